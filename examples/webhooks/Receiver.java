// WEBHOOK_SECRET=whsec_... PORT=8080 java Receiver.java (17 or newer)
import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public class Receiver {
    static final long TOLERANCE_SECONDS = 300;

    static boolean isAuthentic(byte[] key, Headers headers, byte[] body) throws Exception {
        String id = headers.getFirst("webhook-id");
        String timestamp = headers.getFirst("webhook-timestamp");
        String signatures = headers.getFirst("webhook-signature");
        if (id == null || timestamp == null || signatures == null || !timestamp.matches("\\d{1,12}")) return false;
        if (Math.abs(Instant.now().getEpochSecond() - Long.parseLong(timestamp)) > TOLERANCE_SECONDS) return false;
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(key, "HmacSHA256"));
        mac.update((id + "." + timestamp + ".").getBytes(StandardCharsets.UTF_8));
        byte[] expected = Base64.getEncoder().encode(mac.doFinal(body));
        for (String signature : signatures.split(" ")) {
            String[] parts = signature.split(",", 2);
            boolean isVersion1 = parts.length == 2 && parts[0].equals("v1");
            if (isVersion1 && MessageDigest.isEqual(parts[1].getBytes(StandardCharsets.UTF_8), expected)) return true;
        }
        return false;
    }

    public static void main(String[] args) throws Exception {
        byte[] key = Base64.getDecoder().decode(System.getenv("WEBHOOK_SECRET").replaceFirst("^whsec_", ""));
        int port = Integer.parseInt(System.getenv().getOrDefault("PORT", "8080"));
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
        server.createContext("/hooks", exchange -> {
            byte[] body = exchange.getRequestBody().readAllBytes(); // the raw bytes
            int status = 400;
            try {
                if (isAuthentic(key, exchange.getRequestHeaders(), body)) {
                    String id = exchange.getRequestHeaders().getFirst("webhook-id");
                    System.out.println("received " + id + " " + new String(body, StandardCharsets.UTF_8));
                    status = 204;
                }
            } catch (Exception error) {
                status = 500;
            }
            exchange.sendResponseHeaders(status, -1);
            exchange.close();
        });
        server.start();
        System.out.println("listening " + server.getAddress().getPort());
    }
}
