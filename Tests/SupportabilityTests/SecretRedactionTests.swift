import Foundation
import Testing

@testable import Supportability

@Suite("Redaction")
struct SecretRedactionTests {
    private let redaction = SecretRedaction()

    @Test(
        "Secrets are removed",
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
        "A secret XML element is removed up to its own end tag",
        arguments: [
            ("<password><![CDATA[s3cret]]></password> a", "<password>‹redacted›</password> a"),
            ("<password><![CDATA[</password>s3cret]]></password> a", "<password>‹redacted›</password> a"),
            ("<password><!-- </password> -->s3cret</password> a", "<password>‹redacted›</password> a"),
            ("<password><?x </password>?>s3cret</password> a", "<password>‹redacted›</password> a"),
            ("<d:token><d:value>s3cret</d:value>\ns3cret</d:token>\na", "<d:token>‹redacted›</d:token>\na"),
            ("<pin><pin>1</pin>s3cret<pin a='/>'>2</pin></pin> a", "<pin>‹redacted›</pin> a"),
            ("<pin>1<pin/>2</pin> a", "<pin>‹redacted›</pin> a"),
            ("<pin>1</pins>2</pin > a", "<pin>‹redacted›</pin > a"),
            ("<Password>s3&lt;&#99;ret</PASSWORD> a", "<Password>‹redacted›</PASSWORD> a"),
            ("<größePasswortÄ>s3cret</größePasswortÄ> a", "<größePasswortÄ>‹redacted›</größePasswortÄ> a"),
            ("<session:user>ann</session:user> a", "<session:‹redacted›>‹redacted›</session:user> a"),
            ("<token>s3c<b>ret", "<token>‹redacted›"), ("<token><![CDATA[s3c</token>ret", "<token>‹redacted›"),
            ("<token><!-- s3c</token>ret", "<token>‹redacted›"),
            ("<token\n  a:type='x'\n>s3cret</token> a", "<token\n  a:type='x'\n>‹redacted›</token> a"),
            ("<token <b>s3cret</b></token> a", "<token <b>‹redacted›</token> a"),
            ("<token hint='a/>b'>s3cret</token> a", "<token hint='‹redacted›'>‹redacted›</token> a"),
            ("<token value=\"s3cret\" xml:lang='de'/> a", "<token value=\"‹redacted›\" xml:lang='de'/> a"),
            ("<token d:value = 's3cret'/> a", "<token d:value = '‹redacted›'/> a"),
            ("<token value=s3cret;s3cret/> a", "<token value=‹redacted›/> a"),
            ("<a token=1><password>\ns3cret\n</password> a", "<a token=‹redacted›<password>‹redacted›</password> a"),
            ("<a password='s3cret'>b</a>", "<a password='‹redacted›'>b</a>"),
            (
                "&lt;password a=&quot;s3cret&quot;&gt;s3cret&lt;/password&gt; a",
                "&lt;password a=&quot;‹redacted›&quot;&gt;‹redacted›&lt;/password&gt; a"
            ),
            ("x?a=1&lt;pin&gt;s3cret&lt;/pin&gt; a", "x?a=‹redacted›&lt;pin&gt;‹redacted›&lt;/pin&gt; a"),
            (
                "\\u003Cpin\\u003Es3cret\\u003C/pin\\u003E a", "\\u003Cpin\\u003E‹redacted›\\u003C/pin\\u003E a"
            ),
            ("{\"a\":\"<pin>s3cret<\\/pin>\"}", "{\"a\":\"<pin>‹redacted›<\\/pin>\"}"),
            ("{\\u0022pin\\u0022:\\u0022s3cret\\u0022}", "{\\u0022pin\\u0022:\\u0022‹redacted›\\u0022}"),
        ])
    func elements(_ text: String, _ expected: String) {
        let redacted = redaction.redacted(text)
        #expect(redacted == expected)
        #expect(redaction.redacted(redacted) == redacted)
    }

    @Test(
        "Harmless text stays",
        arguments: [
            "", "Orders(10248) changed", "really? yes", "really? yes & a=b", "a=b", "the basics: a and b",
            "3 > 2 & 1 < 2", "café ‹x› 日本", "https://host:8080/service/Orders", "-----BEGIN CERTIFICATE-----\nMIIE",
            "eyJust a word", "what?", "time: 12:30", "password", "token",
            "<d:Password m:null=\"true\"/><a>b</a>", "</token>b",
            "<Password xmlns=\"urn:a\" xmlns:b='urn:b'/><a c='d'>e</a>", "<![CDATA[a]]><!-- b --><?c d?>",
            "&lt;a b=&quot;c&quot;&gt;d&lt;/a&gt;", "\\u0022a\\u0022",
        ])
    func harmless(_ text: String) {
        #expect(redaction.redacted(text) == text)
    }

    @Test(
        "Redacting a text twice changes nothing",
        arguments: [
            "password=a", "Authorization: Bearer b", "https://u:p@h/?a=b&c=d", "x?$filter=A eq 'b'", "--token t x",
            "{\"secret\": \"v\"}", "Basic abc", "<token>t</token>",
        ])
    func idempotent(_ text: String) {
        let once = redaction.redacted(text)
        #expect(once != text)
        #expect(redaction.redacted(once) == once)
    }

    @Test("Metadata are redacted by name in any spelling, and a single query by its name")
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

    @Test("An app adds its own names")
    func further() {
        let redaction = SecretRedaction(further: ["Customer-Name"])
        #expect(redaction.redacted("customerName=Ann; x=1") == "customerName=‹redacted›; x=1")
    }

    @Test("Redaction takes time proportional to the text")
    func linear() {
        // Returns the CPU time of the thread, which other work on the machine does not affect.
        func now() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
        func seconds(_ count: Int, _ part: String) -> Double {
            let hostile = String(repeating: part, count: count)
            let start = now()
            _ = redaction.redacted(hostile)
            return now() - start
        }
        let parts = [
            "?a='b eq \\\\\"token: eyJ -----BEGIN ://@", "<pin a='<pin <!--", "<pin x=<a:b",
            "&lt;pin&gt;&lt;pin a=&quot;", "<![CDATA[<pin></pin", "pin=\\u0022&quot;",
        ]
        for part in parts {
            _ = seconds(100, part)
            // Ten times the text takes ten times as long, and a hundred times where each part is held against all
            // others.
            #expect(seconds(2000, part) < seconds(200, part) * 60)
        }
    }
}
