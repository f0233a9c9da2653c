import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.TimeZone;

/** Runs cases on the real classes of Kafka Connect: a case a line in, what the class did a line out. */
public final class Oracle {
    static final ObjectMapper JSON = new ObjectMapper();

    private Oracle() {}

    public static void main(String[] arguments) throws Exception {
        TimeZone.setDefault(TimeZone.getTimeZone("UTC"));
        Locale.setDefault(Locale.US);
        BufferedReader in = new BufferedReader(
            new InputStreamReader(new FileInputStream(FileDescriptor.in), StandardCharsets.UTF_8), 1 << 16);
        BufferedWriter out = new BufferedWriter(
            new OutputStreamWriter(new FileOutputStream(FileDescriptor.out), StandardCharsets.UTF_8), 1 << 16);
        // What a plugin prints must not stand between the answers.
        System.setOut(new PrintStream(new FileOutputStream(FileDescriptor.err), true));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.isEmpty()) {
                out.flush();
                continue;
            }
            out.write(JSON.writeValueAsString(answer(JSON.readTree(line))));
            out.write('\n');
        }
        out.flush();
    }

    private static JsonNode answer(JsonNode testCase) {
        Steps steps = new Steps();
        try {
            return Kinds.run(testCase, steps);
        } catch (Throwable error) {
            ObjectNode answer = JSON.createObjectNode();
            ObjectNode body = answer.putObject("error");
            body.put("class", error.getClass().getSimpleName());
            body.put("message", error.getMessage());
            body.put("stage", steps.current);
            body.put("origin", error.getStackTrace().length == 0 ? "" : error.getStackTrace()[0].getClassName());
            return answer;
        }
    }

    /** Which step of a case is under way. */
    static final class Steps {
        String current = "decode";
    }
}
