package connectcore;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.nio.ByteBuffer;
import java.util.Iterator;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.storage.Converter;
import org.apache.kafka.connect.storage.HeaderConverter;

/** One converter among parts that are not Java's: values in and bytes out, or the other way. */
final class ConverterLane implements Lane {
    private final Converter converter;
    private final HeaderConverter headerConverter;
    private final ClassLoader loader;
    private final Schemas schemas = new Schemas();

    ConverterLane(Frame request, Isolation isolation) throws Exception {
        JsonNode spec = request.header().get("converter");
        boolean isHeader = request.header().path("header").asBoolean();
        headerConverter = isHeader ? Flow.headerConverter(spec, isolation.all()) : null;
        converter = isHeader ? null : Flow.converter(spec, request.header().path("isKey").asBoolean(), isolation.all());
        loader = (isHeader ? headerConverter : converter).getClass().getClassLoader();
    }

    @Override
    public Frame handle(String op, Frame request) throws Throwable {
        schemas.receive(request.header());
        return Isolation.within(loader, () -> switch (op) {
            case "converter.write" -> write(request);
            case "converter.read" -> read(request);
            default -> throw new IllegalArgumentException(op);
        });
    }

    private Frame write(Frame request) {
        JsonNode header = request.header();
        int size = header.get("rows").asInt();
        Iterator<ByteBuffer> buffers = request.buffers().iterator();
        ByteBuffer topics = buffers.next();
        DataColumn.Reader data = DataColumn.read(header.get("data"), size, buffers, schemas);
        BinaryColumn bytes = new BinaryColumn();
        ArrayNode failures = Json.array();
        for (int row = 0; row < size; row++) {
            String topic = topic(header, topics, row);
            try {
                bytes.add(
                        converter != null
                                ? converter.fromConnectData(topic, data.schema(row), data.value(row))
                                : headerConverter.fromConnectHeader(topic, request.text("name"), data.schema(row), data.value(row)));
            } catch (Exception error) {
                bytes.add((byte[]) null);
                failures.addObject().put("row", row).set("error", Failures.toJson(error));
            }
        }
        Frame answer = new Frame(Json.object()).set("failures", failures);
        bytes.finish(answer.buffers());
        return answer;
    }

    private Frame read(Frame request) {
        JsonNode header = request.header();
        int size = header.get("rows").asInt();
        Iterator<ByteBuffer> buffers = request.buffers().iterator();
        ByteBuffer topics = buffers.next();
        ColumnReader.Binaries bytes = new ColumnReader.Binaries(buffers);
        DataColumn data = new DataColumn();
        ArrayNode failures = Json.array();
        for (int row = 0; row < size; row++) {
            String topic = topic(header, topics, row);
            byte[] given = (byte[]) bytes.get(row);
            try {
                SchemaAndValue found = converter != null
                        ? converter.toConnectData(topic, given)
                        : headerConverter.toConnectHeader(topic, request.text("name"), given);
                data.add(found.schema(), found.value());
            } catch (Exception error) {
                data.add(null, null);
                failures.addObject().put("row", row).set("error", Failures.toJson(error));
            }
        }
        Frame answer = new Frame(Json.object()).set("failures", failures);
        answer.set("data", data.finish(answer, schemas));
        schemas.attach(answer.header());
        return answer;
    }

    private static String topic(JsonNode header, ByteBuffer topics, int row) {
        int number = topics.getInt(4 * row);
        return number < 0 ? null : header.get("topics").get(number).asText();
    }

    @Override
    public void stop() {
        Object made = converter == null ? headerConverter : converter;
        if (made instanceof AutoCloseable one) Flow.quietly(one);
    }
}
