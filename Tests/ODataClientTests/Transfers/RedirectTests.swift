import HTTPTypes
import ODataClient
import ODataHTTP
import ODataService
import Testing

@Suite("Redirects (RFC 9110, 15.4)") struct RedirectTests {
    /// Returns the URL at which a request ends that is redirected once.
    private func landing(
        _ location: String, status: Int = 307, _ method: HTTPRequest.Method = .get,
        from url: String = "https://a.test/b/c?d",
        policy: RedirectingTransport.Policy = .sameOrigin, body: ByteStream? = nil
    ) async throws -> String? {
        let wire = ScriptedWire { number, _ in number == 1 ? answer(status, [.location: location]) : answer() }
        _ = try await RedirectingTransport(wire, policy: policy).send(request(method, url), body: body)
        guard wire.sent.count > 1 else { return nil }
        let last = wire.sent[1].request
        return "\(last.method) \(last.scheme ?? "")://\(last.authority ?? "")\(last.path ?? "")"
    }

    @Test(
        "Locations are resolved as references (RFC 3986, 5.2)",
        arguments: [
            ("/x", "GET https://a.test/x"), ("x", "GET https://a.test/b/x"), ("?q", "GET https://a.test/b/c?q"),
            ("../x", "GET https://a.test/x"), ("./x", "GET https://a.test/b/x"),
            ("/a/../../x?y=/../z", "GET https://a.test/x?y=/../z"),
            ("https://a.test/x#fragment", "GET https://a.test/x"), ("//a.test/x", "GET https://a.test/x"),
            ("HTTPS://A.test:443/x", "GET https://A.test:443/x"), ("mailto:x", nil), ("ftp://a.test/", nil),
            ("https://b.test/x", nil), ("https://a.test:444/x", nil), ("http://a.test/x", nil), ("//b.test/x", nil),
            ("https://a.test@b.test/x", nil), ("/x y", nil), ("x(a='b:c')", "GET https://a.test/b/x(a='b:c')"),
        ] as [(String, String?)])
    func resolves(location: String, expected: String?) async throws {
        #expect(try await landing(location) == expected)
    }

    @Test(
        "Changes with their body follow only 307 and 308, within the origin",
        arguments: [
            (301, nil), (302, nil), (303, nil), (307, "POST https://a.test/x"), (308, "POST https://a.test/x"),
            (304, nil),
        ] as [(Int, String?)])
    func changes(status: Int, expected: String?) async throws {
        #expect(try await landing("/x", status: status, .post, body: ByteStream([1])) == expected)
        #expect(try await landing("/x", status: status, .post, body: ByteStream { nil }) == nil)
        #expect(
            try await landing("https://b.test/x", status: status, .post, policy: .anyOrigin, body: ByteStream([1]))
                == nil)
    }

    @Test("Redirects to another origin drop all secrets, and redirects from HTTPS to HTTP are refused")
    func otherOrigin() async throws {
        let wire = ScriptedWire { number, _ in number == 1 ? answer(302, [.location: "https://b.test/x"]) : answer() }
        var message = request(.get, "https://a.test/")
        for (name, value) in [
            ("Authorization", "secret"), ("Cookie", "secret"), ("X-API-Key", "secret"), ("X-CSRF-Token", "secret"),
            ("Proxy-Authorization", "secret"), ("Accept", "application/json"), ("OData-MaxVersion", "4.01"),
        ] {
            if let name = HTTPField.Name(name) { message.headerFields[name] = value }
        }
        let reports = Reports()
        _ = try await RedirectingTransport(wire, policy: .anyOrigin).send(
            message, body: nil, options: TransferOptions(report: reports.report))
        #expect(wire.sent[1].request.headerFields.map(\.name.canonicalName) == ["accept", "odata-maxversion"])
        #expect(reports.lines == ["redirected 302 https://b.test/x"])
        #expect(try await landing("http://a.test/x", policy: .anyOrigin) == nil)
        #expect(
            try await landing("https://a.test/x", from: "http://a.test/", policy: .anyOrigin) == "GET https://a.test/x")
        #expect(try await landing("/x", policy: .none) == nil)
    }

    @Test("The credentials of a session are not sent to another origin, and are sent again on the way back")
    func credentials() async throws {
        let wire = ScriptedWire { number, _ in
            switch number {
            case 1: answer(302, [.location: "https://b.test/x"])
            case 2: answer(302, [.location: "https://service.test/y"])
            default: answer()
            }
        }
        let session = try HTTPSession(
            wire, serviceRoot: "https://service.test/",
            configuration: .init(authentication: .basic(user: "a", password: "b"), redirects: .anyOrigin))
        _ = try await session.send(request(), body: nil)
        #expect(wire.sent.map { $0.request.headerFields[.authorization] != nil } == [true, false, true])
    }

    @Test("Circular and long redirects end with an error") func circles() async throws {
        let circle = ScriptedWire { number, _ in answer(302, [.location: number % 2 == 0 ? "/a" : "/b"]) }
        let (response, _) = try await RedirectingTransport(circle).send(request(.get, "https://a.test/a"), body: nil)
        #expect(response.status == .found)
        #expect(circle.sent.count == 2)
        let long = ScriptedWire { number, _ in answer(302, [.location: "/\(number)"]) }
        _ = try await RedirectingTransport(long).send(request(.get, "https://a.test/a"), body: nil)
        #expect(long.sent.count == RedirectingTransport.maxRedirects + 1)
    }
}
