// A broker with HiveMQ CE, embedded. Its arguments are: a folder of its own, where to listen without TLS and with it, the files of
// certificate and key, a file with a name and a password on each line, with a colon between.

import com.hivemq.embedded.EmbeddedExtension;
import com.hivemq.embedded.EmbeddedHiveMQ;
import com.hivemq.extension.sdk.api.ExtensionMain;
import com.hivemq.extension.sdk.api.auth.SimpleAuthenticator;
import com.hivemq.extension.sdk.api.auth.parameter.SimpleAuthInput;
import com.hivemq.extension.sdk.api.auth.parameter.SimpleAuthOutput;
import com.hivemq.extension.sdk.api.parameter.ExtensionStartInput;
import com.hivemq.extension.sdk.api.parameter.ExtensionStartOutput;
import com.hivemq.extension.sdk.api.parameter.ExtensionStopInput;
import com.hivemq.extension.sdk.api.parameter.ExtensionStopOutput;
import com.hivemq.extension.sdk.api.services.Services;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;

final class Hive {
    private static final String SECRET = "only-for-this-run";

    public static void main(final String[] args) throws Exception {
        final Path folder = Path.of(args[0]);
        final Path conf = Files.createDirectories(folder.resolve("conf"));
        final Path data = Files.createDirectories(folder.resolve("data"));
        final Path extensions = Files.createDirectories(folder.resolve("extensions"));
        final Path store = folder.resolve("keys.p12");
        writeKeys(store, Path.of(args[3]), Path.of(args[4]));
        Files.writeString(conf.resolve("config.xml"), configuration(args[1], args[2], store));
        final EmbeddedExtension extension = EmbeddedExtension.builder()
                .withId("names").withName("names").withVersion("1").withExtensionMain(new Names(Path.of(args[5]))).build();
        final EmbeddedHiveMQ broker = EmbeddedHiveMQ.builder()
                .withConfigurationFolder(conf).withDataFolder(data).withExtensionsFolder(extensions).withEmbeddedExtension(extension).build();
        broker.start().join();
        Thread.currentThread().join();
    }

    private static String configuration(final String plain, final String secure, final Path store) {
        return "<hivemq><listeners>"
                + "<tcp-listener><port>" + plain + "</port><bind-address>127.0.0.1</bind-address></tcp-listener>"
                + "<tls-tcp-listener><port>" + secure + "</port><bind-address>127.0.0.1</bind-address><tls><keystore><path>" + store
                + "</path><password>" + SECRET + "</password><private-key-password>" + SECRET + "</private-key-password></keystore></tls></tls-tcp-listener>"
                + "</listeners><anonymous-usage-statistics><enabled>false</enabled></anonymous-usage-statistics></hivemq>";
    }

    private static void writeKeys(final Path store, final Path certificate, final Path key) throws Exception {
        final String pem = Files.readString(key).replaceAll("-----[A-Z ]+-----|\\s", "");
        final Certificate known;
        try (var in = Files.newInputStream(certificate)) {
            known = CertificateFactory.getInstance("X.509").generateCertificate(in);
        }
        final KeyStore keys = KeyStore.getInstance("PKCS12");
        keys.load(null, null);
        keys.setKeyEntry("server", KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(Base64.getDecoder().decode(pem))),
                SECRET.toCharArray(), new Certificate[] {known});
        try (OutputStream out = Files.newOutputStream(store)) {
            keys.store(out, SECRET.toCharArray());
        }
    }

    // Names lets clients in that tell a name and its password.
    private static final class Names implements ExtensionMain, SimpleAuthenticator {
        private final Map<String, String> passwords = new HashMap<>();

        Names(final Path file) throws Exception {
            for (final String line : Files.readAllLines(file)) {
                final int at = line.indexOf(':');
                passwords.put(line.substring(0, at), line.substring(at + 1));
            }
        }

        @Override
        public void extensionStart(final ExtensionStartInput input, final ExtensionStartOutput output) {
            Services.securityRegistry().setAuthenticatorProvider(ignored -> this);
        }

        @Override
        public void extensionStop(final ExtensionStopInput input, final ExtensionStopOutput output) {}

        @Override
        public void onConnect(final SimpleAuthInput input, final SimpleAuthOutput output) {
            final var packet = input.getConnectPacket();
            final String told = packet.getPassword().map(p -> StandardCharsets.UTF_8.decode(p.duplicate()).toString()).orElse("");
            if (told.equals(passwords.get(packet.getUserName().orElse("")))) {
                output.authenticateSuccessfully();
            } else {
                output.failAuthentication();
            }
        }
    }
}
