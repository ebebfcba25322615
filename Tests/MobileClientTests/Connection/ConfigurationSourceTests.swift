import Foundation
import Testing

@testable import MobileClient

/// The sources of an address (requirements R73, row 31).
@Suite("Sources of a configuration") struct ConfigurationSourceTests {
    @Test("Lines are split at their first colon, and names count without regard to case")
    func lines() throws {
        let text = """
            # a comment
            SERVER: edge.example
            port:1080
            Url Suffix: /rs/client/rs_client.dll
            Farm ID: shop.Farm
            Domain: west
            Security: users
            Application: shop
            User: ann
            Activation Code: 12:34:56
            """
        let found = try ConfigurationSource.text(text).values().profile()
        #expect(found.profile.baseURL == "https://edge.example:1080/rs/client/rs_client.dll/shop.Farm/")
        #expect(found.profile.domain == "west" && found.profile.securityConfiguration == "users")
        #expect(found.user == "ann")
        #expect(found.activation?.reveal() == "12:34:56")
    }

    @Test(
        "A QR code holds a URL, JSON or lines",
        arguments: [
            "https://mobile.example/?application=shop", "https://mobile.example/m/v1/shop/",
            #"{"server":"mobile.example","application":"shop"}"#, "Server: mobile.example\nApplication: shop",
            "https://mobile.example/.well-known/outpost?application=shop",
        ])
    func code(text: String) throws {
        let found = try ConfigurationSource.qrCode(text).values().profile()
        #expect(found.profile == (try ConnectionProfile(url: "https://mobile.example", application: "shop")))
    }

    @Test("Property lists, dictionaries and files lead to the same profile")
    func forms() throws {
        let values = ["Server": "mobile.example", "Application": "shop", "Port": "8443"]
        let expected = try ConnectionProfile(url: "https://mobile.example:8443", application: "shop")
        #expect(try ConfigurationSource.dictionary(values).values().profile().profile == expected)
        for format in [PropertyListSerialization.PropertyListFormat.xml, .binary] {
            let data = try PropertyListSerialization.data(fromPropertyList: values, format: format, options: 0)
            #expect(try ConfigurationSource.propertyList(Array(data)).values().profile().profile == expected)
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("source-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: file) }
            try data.write(to: file)
            #expect(try ConfigurationSource.file(file.path).values().profile().profile == expected)
        }
    }

    @Test("Values that cannot be used are named")
    func invalid() throws {
        func failure(_ source: ConfigurationSource) -> MobileError? {
            do throws(MobileError) {
                _ = try source.values().profile()
                return nil
            } catch {
                return error
            }
        }
        #expect(failure(.text("Server: a.example")) == .emptyParameter("the application"))
        #expect(failure(.text("Application: shop")) == .emptyParameter("the server"))
        #expect(failure(.text("no colon")) != nil)
        #expect(failure(.json(Array("[1]".utf8))) != nil)
        #expect(failure(.propertyList(Array("nothing".utf8))) != nil)
        #expect(failure(.file("/nowhere/at/all")) != nil)
        #expect(
            failure(.dictionary(["server": "a.example", "application": "shop", "port": "many"]))
                == .invalidConfiguration(detail: "the port \"many\" is no number"))
        #expect(
            failure(.url("http://a.example", application: "shop")) == .plainHTTP(host: "a.example"))
        #expect(failure(.text(String(repeating: "x", count: 70_000))) != nil)
    }
}
