import HTTPTypes
import ODataHTTP
import ODataService
import Testing

@testable import ODataClient

@Suite("Cookies (RFC 6265)") struct CookieTests {
    private func jar(_ clock: TestClock = TestClock()) -> CookieJar { CookieJar(now: { clock.now }) }

    private func set(_ jar: CookieJar, _ cookie: String, from url: String = "https://www.shop.test/a/b") {
        jar.store(answer(200, [.setCookie: cookie]).0, to: request(.get, url))
    }

    @Test(
        "5.4 Cookies are sent by domain, path and security",
        arguments: [
            ("a=1", "https://www.shop.test/a/b", true), ("a=1", "https://www.shop.test/a", true),
            ("a=1", "https://www.shop.test/a/c/d", true), ("a=1", "https://www.shop.test/ab", false),
            ("a=1", "https://www.shop.test/", false), ("a=1", "https://shop.test/a/b", false),
            ("a=1", "https://sub.www.shop.test/a/b", false),
            ("a=1; Domain=shop.test; Path=/", "https://api.shop.test/", true),
            ("a=1; Domain=.shop.test; Path=/", "https://shop.test/", true),
            ("a=1; Domain=shop.test; Path=/", "https://myshop.test/", false),
            ("a=1; Domain=other.test; Path=/", "https://other.test/", false),
            ("a=1; Domain=test; Path=/", "https://www.shop.test/", false),
            ("a=1; Domain=api.www.shop.test; Path=/", "https://api.www.shop.test/", false),
            ("a=1; Path=/; Secure", "http://www.shop.test/", false), ("a=1; Path=/", "http://www.shop.test/", false),
            ("a=1; Path=/; SECURE; HttpOnly; SameSite=Lax", "https://www.shop.test/", true),
            ("a=1; Path=relative", "https://www.shop.test/a/x", true), ("=1; Path=/", "https://www.shop.test/", false),
            ("nothing", "https://www.shop.test/a/b", false), ("a=1; Path=/", "https://www.shop.test:8443/", true),
            ("__Host-a=1; Path=/; Secure", "https://www.shop.test/", true),
            ("__Host-a=1; Path=/; Secure; Domain=www.shop.test", "https://www.shop.test/", false),
            ("__Secure-a=1; Path=/", "https://www.shop.test/", false),
        ])
    func goes(cookie: String, url: String, expected: Bool) {
        let jar = jar()
        set(jar, cookie)
        #expect((jar.field(for: request(.get, url)) != nil) == expected)
    }

    @Test("5.3 A plain connection cannot set or hide a secure cookie") func downgrade() {
        let jar = jar()
        set(jar, "s=1; Path=/; Secure", from: "http://www.shop.test/")
        #expect(jar.cookies.isEmpty)
        set(jar, "s=good; Path=/; Secure")
        set(jar, "s=bad; Path=/", from: "http://www.shop.test/")
        #expect(jar.field(for: request(.get, "https://www.shop.test/")) == "s=good")
    }

    @Test("A cookie from https is sent only over https, even if plain http is allowed") func secure() {
        let jar = jar()
        set(jar, "sess=1; Path=/", from: "https://www.shop.test/a")
        #expect(jar.cookies.map(\.isSecure) == [true])
        #expect(jar.field(for: request(.get, "https://www.shop.test/a")) == "sess=1")
        #expect(jar.field(for: request(.get, "http://www.shop.test/a")) == nil)
        #expect(jar.field(for: request(.get, "http://www.shop.test:8080/a")) == nil)
    }

    @Test("5.4 Longer paths come first, then older cookies; a new value keeps its place") func order() {
        let jar = jar()
        for cookie in ["a=1; Path=/", "b=2; Path=/a", "c=3; Path=/", "a=4; Path=/"] { set(jar, cookie) }
        #expect(jar.field(for: request(.get, "https://www.shop.test/a")) == "b=2; a=4; c=3")
    }

    @Test(
        "5.2 Max-Age outranks Expires, and expired cookies are removed",
        arguments: [
            ("a=1; Path=/; Max-Age=10", true, false), ("a=1; Path=/; Max-Age=0", false, false),
            ("a=1; Path=/; Max-Age=-1", false, false), ("a=1; Path=/; Max-Age=x", true, true),
            ("a=1; Path=/; Max-Age=10; Expires=Thu, 01 Jan 1970 00:00:00 GMT", true, false),
            ("a=1; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT", false, false),
            ("a=1; Path=/; Expires=Mon, 12-Jan-1970 13:46:50 GMT", true, false),
            ("a=1; Path=/; Expires=never", true, true),
            ("a=1; Path=/; Max-Age=99999999999999999999", true, true),
            ("a=1; Path=/; Max-Age=9223372036854775807", true, true),
        ])
    func ends(cookie: String, before: Bool, after: Bool) {
        let clock = TestClock()
        let jar = jar(clock)
        set(jar, cookie)
        let asked = request(.get, "https://www.shop.test/")
        #expect((jar.field(for: asked) != nil) == before)
        clock.now += 20
        #expect((jar.field(for: asked) != nil) == after)
    }

    @Test(
        "5.1.1 Cookie dates are read in all forms",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("06 nov 1994 8:49:37", 784_111_777),
            ("Thu, 29 Feb 2024 00:00:00 GMT", 1_709_164_800), ("Wed, 01 Jan 2070 00:00:00 GMT", 3_155_760_000),
            ("1 Jan 1600 00:00:00", nil), ("32 Jan 2000 00:00:00", nil), ("1 Jan 2000 24:00:00", nil), ("120", nil),
            ("", nil), ("Jan 2000 00:00:00", nil),
        ] as [(String, Int64?)])
    func dates(text: String, expected: Int64?) {
        #expect(CookieDate.seconds(text) == expected)
    }

    @Test("Combined fields are split, except within dates") func folded() {
        let cookies = CookieJar.separate("a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT; Path=/, b=2, c=x,y")
        #expect(cookies == ["a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT; Path=/", " b=2", " c=x,y"])
    }

    @Test("At most 50 cookies of a domain are stored, and long ones are refused") func limits() {
        let jar = jar()
        for number in 0..<60 { set(jar, "c\(number)=1; Path=/") }
        #expect(jar.cookies.count == CookieJar.maxPerDomain)
        #expect(jar.cookies.first?.name == "c10")
        set(jar, "long=\(String(repeating: "x", count: 4093)); Path=/", from: "https://b.test/")
        #expect(jar.cookies.count == CookieJar.maxPerDomain)
        set(jar, "long=\(String(repeating: "x", count: 4092)); Path=/", from: "https://b.test/")
        #expect(jar.cookies.count == CookieJar.maxPerDomain + 1)
    }

    @Test("A session sends its cookies at each step of a redirect, and removes them at a reset") func session()
        async throws
    {
        let wire = ScriptedWire { number, _ in
            number == 1 ? answer(302, [.location: "/shop/x", .setCookie: "s=1; Path=/shop; Secure"]) : answer()
        }
        let session = try HTTPSession(wire, serviceRoot: "https://service.test/")
        _ = try await session.send(request(), body: nil)
        #expect(wire.sent.map { $0.request.headerFields[.cookie] } == [nil, "s=1"])
        let kept = session.configuration.cookies?.cookies ?? []
        #expect("\(kept)".contains("s=‹redacted›"))
        session.reset()
        _ = try await session.send(request(), body: nil)
        #expect(wire.sent.last?.request.headerFields[.cookie] == nil)
    }

    @Test("An IP address has no domain cookies") func addresses() {
        let jar = jar()
        set(jar, "a=1; Path=/; Domain=0.0.1", from: "https://127.0.0.1/")
        #expect(jar.cookies.isEmpty)
        set(jar, "a=1; Path=/; Domain=127.0.0.1", from: "https://127.0.0.1/")
        #expect(jar.field(for: request(.get, "https://127.0.0.1/")) == "a=1")
    }
}
