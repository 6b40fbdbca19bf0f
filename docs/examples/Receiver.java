// With Java 17 or later alone: WEBHOOK_SECRET=whsec_… java Receiver.java
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.concurrent.Executors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public class Receiver {
    static final int TOLERANCE_SECONDS = 300;
    static final int BODY_BYTES_MAX = 1_048_576;
    static final String SECRET = System.getenv("WEBHOOK_SECRET");

    public static void main(String[] arguments) throws IOException {
        int port = Integer.parseInt(System.getenv().getOrDefault("PORT", "3000"));
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
        server.createContext("/webhooks", Receiver::receive);
        server.setExecutor(Executors.newFixedThreadPool(8));
        server.start();
    }

    static void receive(HttpExchange exchange) throws IOException {
        int status = 500; // Not stored, so the service sends the event again.
        try {
            byte[] body = exchange.getRequestBody().readNBytes(BODY_BYTES_MAX + 1);
            if (body.length > BODY_BYTES_MAX) status = 413;
            else if (!isGenuine(exchange, body)) status = 401;
            else {
                store(sent(exchange, "webhook-id"), body);
                status = 204;
            }
        } catch (IOException | GeneralSecurityException error) {
            error.printStackTrace();
        } finally {
            exchange.sendResponseHeaders(status, -1);
            exchange.close();
        }
    }

    /** True if the service has sent this request. The body is the received bytes. */
    static boolean isGenuine(HttpExchange exchange, byte[] body) throws GeneralSecurityException {
        String timestamp = sent(exchange, "webhook-timestamp");
        if (!timestamp.matches("[0-9]{1,12}")) return false;
        if (Math.abs(System.currentTimeMillis() / 1000 - Long.parseLong(timestamp)) > TOLERANCE_SECONDS) return false;
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(Base64.getDecoder().decode(SECRET.replaceFirst("^whsec_", "")), "HmacSHA256"));
        mac.update((sent(exchange, "webhook-id") + "." + timestamp + ".").getBytes(StandardCharsets.UTF_8));
        byte[] expected = ("v1," + Base64.getEncoder().encodeToString(mac.doFinal(body))).getBytes(StandardCharsets.UTF_8);
        boolean genuine = false;
        for (String one : sent(exchange, "webhook-signature").split(" "))
            genuine |= MessageDigest.isEqual(expected, one.getBytes(StandardCharsets.UTF_8));
        return genuine;
    }

    static String sent(HttpExchange exchange, String name) {
        String value = exchange.getRequestHeaders().getFirst(name);
        return value == null ? "" : value;
    }

    /** Stores an event once, under its id. A file with this name is whole, and a repetition writes the same. */
    static void store(String id, byte[] body) throws IOException {
        if (!id.matches("evt_[0-9a-z]+")) throw new IOException("The id is no id of an event.");
        Path inbox = Files.createDirectories(Path.of("inbox"));
        Path file = Files.createTempFile(inbox, "new", null);
        Files.write(file, body);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.force(true);
        }
        Files.move(file, inbox.resolve(id + ".json"), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
}
