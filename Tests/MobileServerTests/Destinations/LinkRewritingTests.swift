import Foundation
import ODataHTTP
import Testing

@testable import MobileServer

@Suite("Links between devices and back ends")
struct LinkRewritingTests {
    private let map: LinkMap

    init() throws {
        map = LinkMap(
            from: try ServiceRoot("https://back.example:8443/svc/"),
            to: try ServiceRoot("https://server.example/m/v1/shop/d/back/"))
    }

    /// Rewrites a text in pieces of a size.
    private func rewritten(
        _ text: String, _ rewriter: some BodyRewriter, pieces: Int = 7
    ) throws -> String {
        var rewriter = rewriter
        var out: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            out += try rewriter.take(Array(rest.prefix(pieces)))
            rest = rest.dropFirst(pieces)
        }
        out += try rewriter.finish()
        return String(decoding: out, as: UTF8.self)
    }

    private func json(_ text: String, _ content: JSONLinkRewriter.Content = .plain, pieces: Int = 7) throws -> String {
        try rewritten(text, JSONLinkRewriter(map, content: content), pieces: pieces)
    }

    @Test("In V4, control information is rewritten and property values are not", arguments: [1, 3, 1000])
    func v4(pieces: Int) throws {
        let text = """
            {"@odata.context":"https://back.example:8443/svc/$metadata#Orders",
             "value":[{"@odata.id":"https:\\/\\/back.example:8443\\/svc\\/Orders(1)","Note":"https://back.example:8443/svc/x",
               "Customer@odata.navigationLink":"/svc/Orders(1)/Customer","url":"https://back.example:8443/svc/y",
               "Text":"a \\"@odata.id\\":\\"https://back.example:8443/svc/z\\""}],
             "@odata.nextLink":"Orders?$skiptoken=1","@deltaLink":"https://BACK.example:8443/svc/Orders?$deltatoken=2"}
            """
        let expected = """
            {"@odata.context":"https://server.example/m/v1/shop/d/back/$metadata#Orders",
             "value":[{"@odata.id":"https://server.example/m/v1/shop/d/back/Orders(1)","Note":"https://back.example:8443/svc/x",
               "Customer@odata.navigationLink":"/m/v1/shop/d/back/Orders(1)/Customer","url":"https://back.example:8443/svc/y",
               "Text":"a \\"@odata.id\\":\\"https://back.example:8443/svc/z\\""}],
             "@odata.nextLink":"Orders?$skiptoken=1","@deltaLink":"https://server.example/m/v1/shop/d/back/Orders?$deltatoken=2"}
            """
        #expect(try json(text, pieces: pieces) == expected)
    }

    @Test("In V2, control information is rewritten and a property named uri is not")
    func v2() throws {
        let text = """
            {"d":{"results":[{"__metadata":{"id":"https://back.example:8443/svc/P(1)","uri":"https://back.example:8443/svc/P(1)",
            "type":"M.P"},"uri":"https://back.example:8443/svc/q","C":{"__deferred":{"uri":"https://back.example:8443/svc/P(1)/C"}}}],
            "__next":"https://back.example:8443/svc/P?$skiptoken=9"}}
            """
        let found = try json(text)
        #expect(found.contains("\"id\":\"https://server.example/m/v1/shop/d/back/P(1)\""))
        #expect(found.contains("\"uri\":\"https://server.example/m/v1/shop/d/back/P(1)\""))
        #expect(found.contains("\"uri\":\"https://back.example:8443/svc/q\""))
        #expect(found.contains("\"uri\":\"https://server.example/m/v1/shop/d/back/P(1)/C\""))
        #expect(found.contains("\"__next\":\"https://server.example/m/v1/shop/d/back/P?$skiptoken=9\""))
    }

    @Test("References in request bodies are rewritten to the back end")
    func request() throws {
        let back = JSONLinkRewriter(LinkMap(from: map.to, to: map.from), content: .plain)
        let found = try rewritten(
            #"{"Customer@odata.bind":"https://server.example/m/v1/shop/d/back/C(1)","Lines@odata.bind":["/m/v1/shop/d/back/L(1)","L(2)"]}"#,
            back)
        #expect(
            found
                == #"{"Customer@odata.bind":"https://back.example:8443/svc/C(1)","Lines@odata.bind":["/svc/L(1)","L(2)"]}"#
        )
    }

    @Test("In a delta, links of removed entities and relations are rewritten, and other ids are not")
    func delta() throws {
        let found = try json(
            #"{"value":[{"@odata.context":"https://back.example:8443/svc/$metadata#C/$deletedEntity","id":"https://back.example:8443/svc/C(1)"},{"id":"https://back.example:8443/svc/own"}]}"#
        )
        #expect(found.contains(#""id":"https://server.example/m/v1/shop/d/back/C(1)""#))
        #expect(found.contains(#""id":"https://back.example:8443/svc/own""#))
    }

    @Test("A batch in JSON is refused if a URL leads out of the destination")
    func jsonBatch() throws {
        let back = LinkMap(from: map.to, to: map.from)
        func batch(_ url: String) throws -> String {
            try rewritten(
                #"{"requests":[{"id":"1","method":"get","url":"\#(url)"}]}"#,
                JSONLinkRewriter(back, content: .batch(isRequest: true)))
        }
        #expect(
            try batch("https://server.example/m/v1/shop/d/back/C(1)").contains("https://back.example:8443/svc/C(1)"))
        #expect(try batch("C(1)").contains("\"url\":\"C(1)\""))
        for foreign in ["https://inner.example/secret", "/svc/C(1)", "../other", "%2e%2e/other", "http:\\/\\/inner/"] {
            #expect(throws: ForeignLink.self, "\(foreign)") { try batch(foreign) }
        }
    }

    @Test("In Atom, references and metadata, links are rewritten and properties are not", arguments: [1, 5, 4096])
    func xml(pieces: Int) throws {
        let text = """
            <?xml version="1.0"?><!-- https://back.example:8443/svc/ --><feed xml:base="https://back.example:8443/svc/">
            <id> https://back.example:8443/svc/P </id><link rel='next' href='https://back.example:8443/svc/P?$skiptoken=1&amp;x=2'/>
            <entry><id>https://back.example:8443/svc/P(1)</id><content src="/svc/P(1)/$value"/><m:properties>
            <d:id>https://back.example:8443/svc/own</d:id><id>https://back.example:8443/svc/own</id></m:properties></entry>
            <![CDATA[<id>https://back.example:8443/svc/</id>]]></feed>
            """
        let found = try rewritten(text, XMLLinkRewriter(map), pieces: pieces)
        #expect(found.contains("<!-- https://back.example:8443/svc/ -->"))
        #expect(found.contains("xml:base=\"https://server.example/m/v1/shop/d/back/\""))
        #expect(
            found.contains("<id> https://server.example/m/v1/shop/d/back/P </id>")
                || found.contains("<id> https://server.example/m/v1/shop/d/back/P</id>"))
        #expect(found.contains("href='https://server.example/m/v1/shop/d/back/P?$skiptoken=1&amp;x=2'"))
        #expect(found.contains("<id>https://server.example/m/v1/shop/d/back/P(1)</id>"))
        #expect(found.contains("src=\"/m/v1/shop/d/back/P(1)/$value\""))
        #expect(
            found.contains("<d:id>https://back.example:8443/svc/own</d:id><id>https://back.example:8443/svc/own</id>"))
        #expect(found.contains("<![CDATA[<id>https://back.example:8443/svc/</id>]]>"))
    }

    @Test("Bytes without links pass through unchanged")
    func anyBytes() throws {
        var numbers = SystemRandomNumberGenerator()
        let alphabet = Array("{}[]\":,\\<>/!-?='CDATA id uri@odata.id".utf8)
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0..<80, using: &numbers)).compactMap { _ in alphabet.randomElement() }
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(try json(text) == text)
            #expect(try rewritten(text, XMLLinkRewriter(map)) == text)
        }
    }

    @Test(
        "A path that leaves the root is refused",
        arguments: [
            "../x", "a/../../x", "%2e%2e/x", "a/%2E%2E/x", "a/..%2fx", "a\\..\\x", "a%5c..", "/x", "http://inner/",
            "a%00", "a b", "a%0d%0aHost:x", "./x",
        ])
    func paths(path: String) {
        #expect(!LinkMap.isPlain(path: path))
    }

    @Test(
        "An ordinary path is accepted",
        arguments: ["", "Orders", "Orders('a%2Fb')", "Orders(1)/Lines?$filter=A%20eq%20'..'"])
    func plainPaths(path: String) {
        #expect(LinkMap.isPlain(path: path) == true)
    }
}

@Suite("A batch that is split")
struct MultipartBodyTests {
    private let text = """
        --b\r
        Content-Type: application/http\r
        Content-Transfer-Encoding: binary\r
        \r
        GET Orders HTTP/1.1\r
        Accept: application/json\r
        \r
        \r
        --b\r
        Content-Type: multipart/mixed; boundary=c\r
        \r
        --c\r
        Content-Type: application/http\r
        Content-ID: 1\r
        \r
        POST Orders HTTP/1.1\r
        Content-Type: application/json\r
        Content-Length: 2\r
        \r
        {}\r
        --c--\r
        --b--\r

        """

    @Test("Parts, change sets, fields and bodies of a batch are preserved")
    func survives() throws {
        let batch = try MultipartBody(Array(text.utf8), boundary: "b")
        #expect(batch.parts.count == 2)
        #expect(batch.parts.flatMap(\.messages).map(\.line) == ["GET Orders HTTP/1.1", "POST Orders HTTP/1.1"])
        let again = try MultipartBody(batch.bytes, boundary: "b")
        #expect(again.parts.flatMap(\.messages).map(\.body) == [[], Array("{}".utf8)])
        #expect(again.bytes == batch.bytes)
    }

    @Test("A changed body states its new length")
    func lengths() throws {
        var batch = try MultipartBody(Array(text.utf8), boundary: "b")
        batch.mapMessages { if !$0.body.isEmpty { $0.setBody(Array("{\"A\":1}".utf8)) } }
        let message = try #require(batch.parts.last?.messages.first)
        #expect(message.value("content-length") == "7")
    }

    @Test("Any bytes are read or refused")
    func fuzz() {
        var numbers = SystemRandomNumberGenerator()
        let start = Array(text.utf8)
        for _ in 0..<3000 {
            var bytes = start
            for _ in 0..<Int.random(in: 1...6, using: &numbers) {
                let index = Int.random(in: bytes.indices, using: &numbers)
                switch Int.random(in: 0..<3, using: &numbers) {
                case 0: bytes.remove(at: index)
                case 1: bytes[index] = UInt8.random(in: 0...255, using: &numbers)
                default: bytes.insert(contentsOf: Array("--b\r\n\r\n".utf8), at: index)
                }
            }
            if let batch = try? MultipartBody(bytes, boundary: "b") { _ = batch.bytes }
        }
    }

    @Test("Too many parts and nested change sets are refused")
    func limits() {
        let part = "--b\r\nContent-Type: application/http\r\n\r\nGET A HTTP/1.1\r\n\r\n\r\n"
        let many = String(repeating: part, count: MultipartBody.partLimit)
        #expect((try? MultipartBody(Array((many + "--b--\r\n").utf8), boundary: "b"))?.parts.count == 1000)
        #expect(throws: MultipartBody.Malformed.self) {
            try MultipartBody(Array((many + part + "--b--\r\n").utf8), boundary: "b")
        }
        let nested = text.replacing(
            "Content-Type: application/http\r\nContent-ID",
            with: "Content-Type: multipart/mixed; boundary=d\r\nContent-ID")
        #expect(throws: MultipartBody.Malformed.self) { try MultipartBody(Array(nested.utf8), boundary: "b") }
    }
}
