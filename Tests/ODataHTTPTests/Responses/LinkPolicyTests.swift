import Foundation
import ODataHTTP
import Testing

@Suite("The links of a service")
struct LinkPolicyTests {
    private func address(
        _ link: String, root: String = "https://shop.test:8443/svc/", followed: Set<String> = []
    ) throws -> String {
        try LinkPolicy(followedHosts: followed).address(of: link, in: try ServiceRoot(root))
    }

    @Test(
        "are followed unchanged at the origin of the service",
        arguments: [
            "Items?$skip=2", "/svc/Items?$skip=2", "/elsewhere?a", "https://shop.test:8443/svc/Items",
            "https://SHOP.test:8443/other",
        ])
    func own(link: String) throws { #expect(try address(link) == link) }

    @Test(
        "are followed at the service's origin if only scheme, host or port differ",
        arguments: [
            ("http://shop.test:8443/svc/Items?$skip=2", "https://shop.test:8443/svc/Items?$skip=2"),
            ("https://shop.test/svc/Items", "https://shop.test:8443/svc/Items"),
            ("http://10.0.0.7:8080/svc/Items(1)/Lines", "https://shop.test:8443/svc/Items(1)/Lines"),
            ("https://internal.host.invalid/svc/?a=b", "https://shop.test:8443/svc/?a=b"),
            ("https://internal.host.invalid/svc?a=b", "https://shop.test:8443/svc?a=b"),
            ("https://internal.host.invalid/x/../svc/./Items", "https://shop.test:8443/svc/Items"),
        ])
    func behindProxy(link: String, expected: String) throws { #expect(try address(link) == expected) }

    @Test(
        "to another service are refused",
        arguments: [
            "https://other.test/Items", "https://shop.test/svc2/Items", "https://shop.test:8444/",
            "https://169.254.169.254/latest", "https://other.test/svc/../admin", "https://other.test/svc/%2e%2E/admin",
            "https://other.test/SVC/Items",
        ])
    func foreign(link: String) {
        let error = #expect(throws: TransportError.self) { try address(link) }
        guard case .foreignLink(_, "https://shop.test:8443") = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("never lead from https to http, even if the host is allowed")
    func downgrade() {
        for followed in [[], ["other.test"]] as [Set<String>] {
            #expect(
                throws: TransportError.insecureLink(origin: "http://other.test", service: "https://shop.test:8443")
            ) { try address("http://other.test/Items", followed: followed) }
        }
    }

    @Test("are followed to an allowed host, with or without its port")
    func followed() throws {
        let link = "https://data.test:9443/svc/Items"
        for host in ["data.test", "DATA.test", "data.test:9443"] {
            #expect(try address(link, followed: [host]) == link)
        }
        #expect(try address(link, followed: ["data.test:1"]) == "https://shop.test:8443/svc/Items")
        let address6 = "https://[::1]:9443/other"
        #expect(try address(address6, followed: ["[::1]:9443"]) == address6)
    }

    @Test(
        "The local machine is recognised by its names and addresses",
        arguments: [
            ("localhost", true), ("app.localhost", true), ("127.0.0.1", true), ("127.8.9.10", true), ("[::1]", true),
            ("[::ffff:127.0.0.1]", true), ("127.0.0.1.example.com", false), ("localhost.example.com", false),
            ("128.0.0.1", false), ("127.1", false), ("[::2]", false), ("10.0.0.1", false),
        ])
    func loopback(host: String, expected: Bool) throws {
        let origin = try #require(Origin(scheme: "http", authority: "\(host):80"))
        #expect(origin.isLoopback == expected)
        #expect(origin.isPlain == !expected)
        #expect(Origin(scheme: "https", authority: host)?.isPlain == false)
    }
}
