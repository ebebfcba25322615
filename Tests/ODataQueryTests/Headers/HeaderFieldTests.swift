import ODataQuery
import Testing

@Suite("OData's header fields")
struct HeaderFieldTests {
    @Test(
        "Field names are read in any case and written as in 4.01",
        arguments: [
            ("odata-VERSION:4.01", "OData-Version: 4.01"), ("OData-MaxVersion: 12.3", "OData-MaxVersion: 12.3"),
            ("isolation: SNAPSHOT", "OData-Isolation: snapshot"), ("AsyncResult:\t404", "AsyncResult: 404"),
            ("content-id: a-1~b", "Content-ID: a-1~b"),
            ("odata-entityid: http://x/A(1)", "OData-EntityId: http://x/A(1)"),
            ("OData-Error: {\"code\":\"x\"}", "OData-Error: {\"code\":\"x\"}"),
            (
                "Prefer: odata.maxpagesize = 5 ,, RETURN=minimal;x=1, wait=\"x\"".replacing(", wait=\"x\"", with: ""),
                "Prefer: maxpagesize=5, return=minimal"
            ),
            (
                "prefer: odata.callback; url=\"http://a/b\", Foo=\"a b\"; Bar; baz=1",
                "Prefer: callback; url=\"http://a/b\", foo=\"a b\"; bar; baz=1"
            ),
            ("Prefer: include-annotations=\"-*,A.B.*,A.c#q\"", "Prefer: include-annotations=\"-*,A.B.*,A.c#q\""),
            (
                "Prefer: continue-on-error=FALSE, odata.track-changes, allow-entityreferences, omit-values=nulls, respond-async, wait=9",
                "Prefer: continue-on-error=false, track-changes, allow-entityreferences, omit-values=nulls, respond-async, wait=9"
            ),
        ])
    func fields(text: String, expected: String) throws {
        let field = try HeaderField(parsing: text)
        #expect(field.description == expected)
        #expect(try HeaderField(parsing: field.description) == field)
    }

    @Test(
        "An invalid field is refused with its place",
        arguments: [
            ("OData-Version: 4.1", 17), ("OData-Version: 3.0", 15), ("OData-Version: 4.011", 19),
            ("OData-MaxVersion: 4", 19),
            ("AsyncResult: 20", 15), ("AsyncResult: 2000", 16), ("OData-Isolation: serial", 17),
            ("Content-ID: a b", 14),
            ("Content-ID: ", 12), ("Prefer: maxpagesize=0", 20), ("Prefer: return=Minimal", 15),
            ("Prefer: wait=soon", 13),
            ("Prefer: ", 8), ("Prefer: include-annotations=\"A\"", 30), ("Prefer: callback; url=\"here\"", 23),
            ("Prefer: wait=99999999999999999999", 13), ("OData-Error: {}", 13), ("Accept: x", 0), ("Prefer", 6),
        ])
    func refused(text: String, offset: Int) throws {
        let error = try #require(throws: QueryError.self) { try HeaderField(parsing: text) }
        #expect(error.offset == offset, "\(error)")
    }

    @Test("Versions order numerically")
    func versions() {
        func version(_ major: String, _ minor: String) -> HeaderField.Version { .init(major: major, minor: minor) }
        #expect(version("4", "0") < version("4", "01") && version("4", "01") < version("4", "1"))
        #expect(version("9", "9") < version("10", "0") && !(version("04", "00") < version("4", "0")))
    }

    @Test("Entity tags are compared weakly or strongly")
    func entityTags() throws {
        let tags = try EntityTags(parsing: "\"a\" , W/\"b,c\"")
        #expect(tags == .list([.init("a"), .init("b,c", isWeak: true)]))
        #expect(tags.contains(.init("b,c")) && !tags.contains(.init("b,c"), weakly: false))
        #expect(try EntityTags(parsing: " * ").contains(.init("x")))
        for text in ["", "a", "\"a", "W\"a\"", "\"a\",", "*,\"a\""] {
            #expect(throws: QueryError.self, "\(text)") { try EntityTags(parsing: text) }
        }
    }
}
