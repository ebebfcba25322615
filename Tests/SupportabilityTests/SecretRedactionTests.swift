import Foundation
import Testing

@testable import Supportability

@Suite("Redaction")
struct SecretRedactionTests {
    private let redaction = SecretRedaction()

    @Test(
        "What is secret is taken out",
        arguments: [
            ("password=hunter2", "password=‹redacted›"),
            ("Password: hunter2 and more", "Password: ‹redacted›"),
            ("{\"password\": \"hunter2\", \"a\": 1}", "{\"password\": \"‹redacted›\", \"a\": 1}"),
            ("{\\\"password\\\":\\\"hunter2\\\",\\\"a\\\":1}", "{\\\"password\\\":\\\"‹redacted›\\\",\\\"a\\\":1}"),
            ("client_secret='s3;cr&et', x", "client_secret='‹redacted›', x"),
            ("run --password hunter2 --all", "run --password ‹redacted› --all"),
            ("Authorization: Basic dXNlcjpwdw==", "Authorization: ‹redacted›"),
            ("authorization: Digest username=\"u\", response=\"r\"", "authorization: ‹redacted›"),
            ("sent Bearer abc.def-ghi to host", "sent Bearer ‹redacted› to host"),
            ("Set-Cookie: a=b; c=d", "Set-Cookie: ‹redacted›"),
            ("X-CSRF-Token: 12345\nnext line", "X-CSRF-Token: ‹redacted›\nnext line"),
            ("api-key => k", "api-key => ‹redacted›"),
            ("Ocp-Apim-Subscription-Key: k1", "Ocp-Apim-Subscription-Key: ‹redacted›"),
            ("X-Functions-Key: k1", "X-Functions-Key: ‹redacted›"),
            ("AccountName=a;AccountKey=k1;b=c", "AccountName=a;AccountKey=‹redacted›;b=c"),
            ("<d:Password>hunter2</d:Password><a>b</a>", "<d:Password>‹redacted›</d:Password><a>b</a>"),
            (
                "<d:Password m:type=\"Edm.String\" token='t'>hunter2",
                "<d:Password m:type=\"Edm.String\" token='‹redacted›'>‹redacted›"
            ),
            ("https://ann:pw@host/a", "https://‹redacted›@host/a"),
            ("https://a@b:pw@host/a?x=1", "https://‹redacted›@host/a?x=‹redacted›"),
            (
                "GET /Orders?$top=5&$skiptoken=abc took 3 ms",
                "GET /Orders?$top=‹redacted›&$skiptoken=‹redacted› took 3 ms"
            ),
            ("Orders?$filter=Name eq 'A b' and Freight gt 50 failed", "Orders?$filter=‹redacted› failed"),
            ("Orders?$filter=contains(Name,'A b') took", "Orders?$filter=‹redacted› took"),
            ("Orders?$filter=Name%20eq%20'x'#part", "Orders?$filter=‹redacted›#part"),
            ("Orders?$filter=City eqq 'A b' failed", "Orders?$filter=‹redacted› failed"),
            ("Passwort: a", "Passwort: ‹redacted›"), ("pw=a", "pw=‹redacted›"),
            ("Orders?$orderby=Name desc&flag", "Orders?$orderby=‹redacted›&flag"),
            ("Orders?flag&$filter=Name eq 'x' took", "Orders?flag&$filter=‹redacted› took"),
            ("Orders?a=1&a/b%&&c=2&flag&d=3#e&f=g", "Orders?a=‹redacted›&a/b%&&c=‹redacted›&flag&d=‹redacted›#e&f=g"),
            ("Orders?eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sig&a=1", "Orders?‹redacted›&a=‹redacted›"),
            ("found eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sig here", "found ‹redacted› here"),
            (
                "key 00112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEFF.",
                "key 00112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEFF."
            ),
            (
                "key 00112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEFF",
                "key ‹redacted›"
            ),
            (
                "a -----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb", "a ‹redacted›\nb"
            ),
        ])
    func secret(_ text: String, _ expected: String) {
        #expect(redaction.redacted(text) == expected)
    }

    @Test(
        "What is harmless stays",
        arguments: [
            "", "Orders(10248) changed", "really? yes", "really? yes & a=b", "a=b", "the basics: a and b",
            "3 > 2 & 1 < 2", "café ‹x› 日本", "https://host:8080/service/Orders", "-----BEGIN CERTIFICATE-----\nMIIE",
            "eyJust a word", "what?", "time: 12:30", "password", "token",
            "<d:Password m:null=\"true\"/><a>b</a>", "</token>b",
        ])
    func harmless(_ text: String) {
        #expect(redaction.redacted(text) == text)
    }

    @Test(
        "A redacted text stays as it is",
        arguments: [
            "password=a", "Authorization: Bearer b", "https://u:p@h/?a=b&c=d", "x?$filter=A eq 'b'", "--token t x",
            "{\"secret\": \"v\"}", "Basic abc", "<token>t</token>",
        ])
    func idempotent(_ text: String) {
        let once = redaction.redacted(text)
        #expect(once != text)
        #expect(redaction.redacted(once) == once)
    }

    @Test("Metadata go by their names, in any spelling, and a query that stands alone by its name")
    func metadata() {
        var entry = record("m")
        entry.metadata = [
            "X-Api-Key": "k", "request.headers.Authorization": "Bearer x", "pin": "1234", "ping": "1234",
            "query": "$filter=A eq 1&$top=2", "url": "http://h/?q=1", "count": "3",
        ]
        let redacted = redaction.redacted(entry).metadata
        #expect(redacted["X-Api-Key"] == SecretRedaction.mark)
        #expect(redacted["request.headers.Authorization"] == SecretRedaction.mark)
        #expect(redacted["pin"] == SecretRedaction.mark)
        #expect(redacted["ping"] == "1234")
        #expect(redacted["query"] == "$filter=‹redacted›&$top=‹redacted›")
        #expect(redacted["url"] == "http://h/?q=‹redacted›")
        #expect(redacted["count"] == "3")
    }

    @Test("An app adds names of its own")
    func further() {
        let redaction = SecretRedaction(further: ["Customer-Name"])
        #expect(redaction.redacted("customerName=Ann; x=1") == "customerName=‹redacted›; x=1")
    }

    @Test("The time grows with the length of the text, whatever is in it")
    func linear() {
        // Returns the CPU time of the thread, which other work on the machine does not affect.
        func now() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
        func seconds(_ count: Int) -> Double {
            let hostile = String(repeating: "?a='b eq \\\\\"token: eyJ -----BEGIN ://@", count: count)
            let start = now()
            _ = redaction.redacted(hostile)
            return now() - start
        }
        _ = seconds(100)
        // For a linear algorithm, ten times the text takes ten times as long; for a quadratic one, a hundred
        // times.
        #expect(seconds(5000) < seconds(500) * 60)
    }
}
