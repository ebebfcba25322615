import Testing

@testable import MobileServer

/// One-time passwords by time (RFC 6238).
@Suite("One-time passwords") struct OneTimePasswordTests {
    @Test(
        "One-time passwords are those of RFC 6238, appendix B",
        arguments: [
            (59, "287082"), (1_111_111_109, "081804"), (1_111_111_111, "050471"), (1_234_567_890, "005924"),
            (2_000_000_000, "279037"), (20_000_000_000, "353130"),
        ] as [(Int64, String)])
    func vectors(time: Int64, password: String) {
        let totp = OneTimePassword(secret: Array("12345678901234567890".utf8))
        #expect(totp.password(step: time / 30) == password)
        #expect(totp.step(matching: password, at: time) == time / 30)
        #expect(totp.step(matching: password, at: time + 30) == time / 30)
        #expect(totp.step(matching: password, at: time + 90) == nil)
        #expect(totp.step(matching: "28708", at: time) == nil)
    }

    @Test("The URL for authenticator apps has the secret in base32")
    func url() {
        let totp = OneTimePassword(secret: Array("12345678901234567890".utf8))
        #expect(
            totp.url(for: "ann b", issuer: "Outpost x")
                == "otpauth://totp/Outpost%20x:ann%20b?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Outpost%20x")
        #expect(OneTimePassword.base32(Array("foob".utf8)) == "MZXW6YQ")
    }

    @Test("Networks are matched for IPv4 and IPv6 addresses")
    func networks() throws {
        let list = try #require(NetworkList(["10.0.0.0/8", "192.0.2.1", "2001:db8::/33"]))
        for inside in ["10.255.0.1", "192.0.2.1", "2001:db8:1::1", "::ffff:10.1.1.1"] {
            #expect(list.contains(inside), "\(inside)")
        }
        for outside in ["11.0.0.1", "192.0.2.2", "2001:db8:8000::1", "text", ""] {
            #expect(!list.contains(outside), "\(outside)")
        }
        #expect(NetworkList(["10.0.0.0/33"]) == nil)
        #expect(NetworkList(["office"]) == nil)
        #expect(try #require(NetworkList([])).contains("1.2.3.4"))
    }
}
