import TestCorpus
import Testing

@testable import ODataModel

@Suite("XML documents as trees")
struct XMLTreeTests {
    static let sample = """
        <?xml version="1.0"?><?style sheet?><!-- first -->
        <a xmlns="urn:a" xmlns:m="urn:m" one="1"><b>x</b><b m:two="2" two="3">y<c/>z</b><d><![CDATA[<&>]]></d></a>
        """

    private func tree(_ text: String = sample) throws -> XMLTree { try XMLTree(parsing: Array(text.utf8)) }

    @Test("all nodes are kept")
    func lossless() throws {
        let tree = try tree()
        #expect(tree.nodes.count == 3)
        #expect(tree.nodes.prefix(2) == [.instruction(target: "style", content: "sheet"), .comment(" first ")])
        let root = try #require(tree.root)
        #expect(root.declarations.map(\.prefix) == [nil, "m"])
        #expect(root.attribute("one") == "1")
        #expect(root.elements.count == 3)
        #expect(root.elements[1].children.count == 3)
        #expect(root.elements[1].attributes.map(\.name.text) == ["m:two", "two"])
        #expect(root.elements[2].text == "<&>")
    }

    @Test("a written tree reads back as an equal tree")
    func roundTrip() throws {
        let tree = try tree()
        #expect(try XMLTree(parsing: tree.bytes) == tree)
    }

    @Test(
        "a path leads to one element or attribute, or to nothing",
        arguments: [
            ("/a/1/b/1", "x"), ("/a/1/b/2", "yz"), ("/a/b", nil), ("/a/d", "<&>"), ("/a/1/b/3", nil), ("a/1", nil),
            ("/a/1/x/1", nil), ("/a/0", nil), ("", nil), ("/", nil), ("/a/1/", nil),
        ] as [(String, String?)])
    func routes(route: String, value: String?) throws { #expect(try tree().value(at: route) == value) }

    @Test("a name at the end of a path is an attribute")
    func attributes() throws {
        let tree = try tree()
        #expect(tree.attribute(at: "/a/1/b/2/two") == "3")
        #expect(tree.attribute(at: "/a/1/b/2/two", namespace: "urn:m") == "2")
        #expect(tree.attribute(at: "/a/1/b/two") == nil)
        #expect(tree.attribute(at: "/a/1/one") == "1")
        #expect(tree.element(at: "/a/1/d/1")?.name.namespace == "urn:a")
    }

    @Test("a truncated XML document gives a typed error")
    func prefixes() {
        let bytes = Array(Self.sample.utf8)
        for count in 0..<bytes.count {
            #expect(throws: XMLTreeError.self, "prefix of \(count)") { try XMLTree(parsing: Array(bytes[..<count])) }
        }
    }

    @Test(
        "entities, too deep nesting and invalid XML are refused",
        arguments: [
            ("<!DOCTYPE x [<!ENTITY a \"b\">]><x>&a;</x>", .documentType), ("  ", .empty),
            (String(repeating: "<x>", count: 101), .tooDeep), ("<a>", .truncated),
        ] as [(String, XMLTreeError.Reason)])
    func refused(text: String, reason: XMLTreeError.Reason) {
        #expect { try XMLTree(parsing: Array(text.utf8)) } throws: { ($0 as? XMLTreeError)?.reason == reason }
    }

    @Test("an undeclared prefix is refused")
    func prefix() {
        #expect {
            try XMLTree(parsing: Array("<a>\n<b m:c='1'/></a>".utf8))
        } throws: { error in
            guard let error = error as? XMLTreeError, case .malformed(let message) = error.reason else { return false }
            return error.line == 2 && message.contains("prefix m")
        }
    }

    @Test("an XML error names its place")
    func place() {
        #expect {
            try XMLTree(parsing: Array("<a>\n<b></a>".utf8))
        } throws: { error in
            guard let error = error as? XMLTreeError, case .malformed = error.reason else { return false }
            return error.line == 2 && error.column > 1 && !error.expected.isEmpty
        }
    }

    @Test("a document gives the same tree for any chunk size")
    func chunks() async throws {
        let bytes = Array((Self.sample + "<!-- ä€😀 > -->\n").utf8)
        let expected = try XMLTree(parsing: bytes)
        for cut in 1..<bytes.count {
            #expect(try await XMLTree(parsing: CutDocument(bytes, at: [cut])) == expected, "cut at \(cut)")
        }
        #expect(try await XMLTree(parsing: CutDocument(bytes, chunkSize: 1)) == expected)
    }

    @Test(
        "a document has the same error for any chunk size",
        arguments: [
            "", " \n ", "<a>\n<b></a>", "<a>\n<b m:c='1'/></a>", "<a>", "<!DOCTYPE x [<!ENTITY a \"b\">]><x>&a;</x>",
        ])
    func errorsInChunks(text: String) async throws {
        let bytes = Array(text.utf8)
        let expected = #expect(throws: XMLTreeError.self) { try XMLTree(parsing: bytes) }
        for size in 1...max(1, bytes.count) {
            let error = await #expect(throws: XMLTreeError.self) {
                try await XMLTree(parsing: CutDocument(bytes, chunkSize: size))
            }
            #expect(error == expected, "chunks of \(size)")
        }
    }

    @Test("an error, the limit and a cancelled task end the reading")
    func endsOfReading() async throws {
        let wrong = CutDocument(Array("<a><b></a>".utf8) + [UInt8](repeating: 0x20, count: 1000), chunkSize: 10)
        await #expect(throws: XMLTreeError.self) { try await XMLTree(parsing: wrong) }
        #expect(wrong.takenCount <= 2)
        let bytes = Array(Self.sample.utf8)
        _ = try await XMLTree(parsing: CutDocument(bytes, chunkSize: 10), maxBytes: bytes.count)
        let error = await #expect(throws: XMLTreeError.self) {
            try await XMLTree(parsing: CutDocument(bytes, chunkSize: 10), maxBytes: bytes.count - 1)
        }
        #expect(error?.reason == .tooLarge(limit: bytes.count - 1))
        let reading = Task { try await XMLTree(parsing: EndlessDocument(Array("<a>".utf8))) }
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
    }
}
