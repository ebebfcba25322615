import HTTPTypes
import Testing

@testable import ODataHTTP

@Suite("The header fields of a request")
struct RequestFieldsTests {
    /// Each field with its name and key path.
    private static let all: [(name: String, path: KeyPath<RequestFields, String?> & Sendable)] = [
        ("Accept", \.accept), ("Accept-Charset", \.acceptCharset), ("Content-Encoding", \.contentEncoding),
        ("X-HTTP-Method", \.httpMethod), ("X-HTTP-Method-Override", \.httpMethodOverride), ("If-Match", \.ifMatch),
        ("If-None-Match", \.ifNoneMatch), ("Isolation", \.isolation), ("OData-Isolation", \.odataIsolation),
        ("OData-MaxVersion", \.odataMaxVersion), ("OData-Version", \.odataVersion),
        ("Repeatability-Client-ID", \.repeatabilityClientID), ("Repeatability-First-Sent", \.repeatabilityFirstSent),
        ("Repeatability-Request-ID", \.repeatabilityRequestID), ("X-Request-ID", \.requestID), ("Slug", \.slug),
    ]

    private func fields(_ pairs: [(String, String)]) throws -> HTTPFields {
        var fields = HTTPFields()
        for (name, value) in pairs { fields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value)) }
        return fields
    }

    @Test("Each preference is found by its name in any case and not confused with others")
    func each() throws {
        for (name, path) in Self.all {
            for spelling in [name, name.lowercased(), name.uppercased()] {
                let found = RequestFields(try fields([("Host", "h"), (spelling, "value"), ("User-Agent", "u")]))
                for (other, otherPath) in Self.all {
                    #expect(found[keyPath: otherPath] == (other == name ? "value" : nil), "\(spelling): \(other)")
                }
                #expect(found[keyPath: path] == "value")
                #expect(found.prefer.isEmpty)
            }
        }
    }

    @Test("A repeated field is one list; Prefer fields stay separate")
    func repeated() throws {
        for (name, path) in Self.all {
            let found = RequestFields(try fields([(name, "one"), ("Host", "h"), (name, "other")]))
            #expect(found[keyPath: path] == "one, other", "\(name)")
        }
        #expect(RequestFields(try fields([("prefer", "a, b"), ("Prefer", "c")])).prefer == ["a, b", "c"])
    }

    @Test("A query in the body is recognised only by the end of the path")
    func queryInBody() {
        for url in ["Orders/$query", "Orders/$query?$top=1", "Caf%C3%A9/$query", "$query/$query"] {
            #expect(QueryInBody(url) != nil, "\(url)")
        }
        for url in ["Orders", "", "?", "$query", "Orders?a=/$query", "Orders/$query/", "Orders/x$query", "/$quer"] {
            #expect(QueryInBody(url) == nil, "\(url)")
        }
    }
}
