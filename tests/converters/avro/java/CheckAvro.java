import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;

/** Lines of a schema, a tab and bodies in base64 with blanks between: prints what Java's Avro makes of them. */
public class CheckAvro {
  public static void main(String[] arguments) throws Exception {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] parts = line.split("\t", -1);
      try {
        Schema schema = new Schema.Parser().parse(parts[0]);
        StringBuilder answer = new StringBuilder(schema.toString()).append('\t');
        for (String body : parts[1].isEmpty() ? new String[0] : parts[1].split(" ")) {
          answer.append(again(schema, Base64.getDecoder().decode(body))).append(' ');
        }
        out.println(answer.toString().stripTrailing() + (answer.charAt(answer.length() - 1) == '\t' ? "\t" : ""));
      } catch (Exception error) {
        out.println("refused: " + error);
      }
    }
  }

  private static String again(Schema schema, byte[] body) throws Exception {
    BinaryDecoder decoder = DecoderFactory.get().binaryDecoder(body, null);
    Object value = new GenericDatumReader<Object>(schema).read(null, decoder);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(bytes, null);
    new GenericDatumWriter<Object>(schema).write(value, encoder);
    encoder.flush();
    return (decoder.isEnd() ? "" : "more:") + Base64.getEncoder().encodeToString(bytes.toByteArray());
  }
}
