import Testing

@testable import MobileClient

/// Addresses of servers, relays and farms (requirements R01, R18).
@Suite("Connection profiles") struct ConnectionProfileTests {
    @Test(
        "All spellings of an address lead to one base URL",
        arguments: [
            ("https://host.example", "https://host.example/"), ("host.example", "https://host.example/"),
            (" https://HOST.example:443/ ", "https://host.example/"),
            ("https://host.example:8443/prefix", "https://host.example:8443/prefix/"),
            ("https://host.example//a//b/", "https://host.example/a/b/"),
            ("https://host.example/m/v1/shop/", "https://host.example/"),
            ("https://host.example/x/.well-known/outpost", "https://host.example/x/"),
            (
                "https://host.example/rs/client/rs_client.dll/farm/%cid%/tm",
                "https://host.example/rs/client/rs_client.dll/farm/"
            ),
            ("http://127.0.0.1:8000", "http://127.0.0.1:8000/"), ("http://[::1]:80/", "http://[::1]/"),
        ])
    func normalized(text: String, base: String) throws {
        #expect(try ConnectionProfile(url: text, application: "shop").baseURL == base)
    }

    @Test(
        "Host, template and farm are the same as the whole URL",
        arguments: ["/ias_relay_server/client/rs_client.dll", "rs/client/rs_client.dll", "/cli/iasrelayserver/"])
    func relay(template: String) throws {
        let parts = try ConnectionProfile(
            host: "edge.example", port: 1080, relayTemplate: template, farm: "shop.FarmMBS", application: "shop")
        let path = template.split(separator: "/").joined(separator: "/")
        let whole = try ConnectionProfile(url: "https://edge.example:1080/\(path)/shop.FarmMBS", application: "shop")
        #expect(parts == whole)
        #expect(parts.deviceAPI == "https://edge.example:1080/\(path)/shop.FarmMBS/m/v1/shop/")
    }

    @Test("Empty values are named before any request (70004)")
    func empty() throws {
        #expect(throws: MobileError.emptyParameter("the application")) {
            try ConnectionProfile(url: "https://host.example", application: "")
        }
        #expect(throws: MobileError.emptyParameter("the domain")) {
            try ConnectionProfile(url: "https://host.example", application: "shop", domain: "")
        }
        #expect(throws: MobileError.emptyParameter("the security configuration")) {
            try ConnectionProfile(url: "https://host.example", application: "shop", securityConfiguration: "")
        }
        #expect(throws: MobileError.emptyParameter("the host")) { try ConnectionProfile(host: "", application: "shop") }
        #expect(throws: MobileError.emptyParameter("the farm")) {
            try ConnectionProfile(host: "edge.example", relayTemplate: "/rs", application: "shop")
        }
    }

    @Test(
        "Other texts are no addresses",
        arguments: ["ftp://host.example", "https://", "https://ann@host.example/", "https://host.example/a b", ""])
    func invalid(text: String) {
        #expect(throws: MobileError.self) { try ConnectionProfile(url: text, application: "shop") }
    }

    @Test("Plain HTTP is refused outside of this machine, unless it is allowed")
    func plainHTTP() throws {
        #expect(throws: MobileError.plainHTTP(host: "host.example")) {
            try ConnectionProfile(url: "http://host.example", application: "shop")
        }
        let allowed = try ConnectionProfile(
            url: "http://host.example", application: "shop", allowsPlainHTTP: true)
        #expect(allowed.baseURL == "http://host.example/")
        #expect(try ConnectionProfile(url: "http://localhost:1", application: "shop").host == "localhost")
    }
}
