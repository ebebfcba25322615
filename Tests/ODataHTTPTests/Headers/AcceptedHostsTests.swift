import Testing

@testable import ODataHTTP

@Suite("The names of a server")
struct AcceptedHostsTests {
    @Test(
        "an authority is a host with an optional port",
        arguments: [
            ("localhost", "localhost", nil), ("Api.Example.:8443", "api.example", 8443), ("[::1]:1", "::1", 1),
            ("127.0.0.1:", "127.0.0.1", nil), ("a_b~c-d", "a_b~c-d", nil),
        ] as [(String, String, UInt16?)])
    func authorities(text: String, host: String, port: UInt16?) throws {
        let authority = try #require(Authority(text))
        #expect(authority.host == host && authority.port == port)
    }

    @Test(
        "an invalid authority is refused",
        arguments: [
            "", ":80", "a b", "a/b", "a?b", "a#b", "u@a", "a:b", "a:80:80", "a:65536", "a:-1", "[::1", "::1", "[a]",
            "[::1]x",
            "[fe80::1%25eth0]", "a\"b", "a<b", "a,b", "ä", "a\u{0}", "a%41", "a:000080",
            String(repeating: "a", count: 262),
        ])
    func invalid(text: String) { #expect(Authority(text) == nil) }

    @Test("addresses and loopback names are accepted, other names if they are configured")
    func accepted() {
        let hosts = AcceptedHosts(["Shop.Example.", "other"])
        for name in [
            "127.0.0.1", "10.0.0.1:1", "[2001:db8::1]", "localhost:8080", "a.localhost", "shop.example:1", "OTHER",
        ] {
            #expect(hosts.accepts(name), "\(name)")
        }
        for name in ["attacker.example", "x.shop.example", "shop.example.x", "localhost.x", "0x7f.1", "127.1", ""] {
            #expect(!hosts.accepts(name), "\(name)")
        }
    }
}
