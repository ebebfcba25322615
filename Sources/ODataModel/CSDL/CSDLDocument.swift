/// The elements of a metadata document in flat arrays: the parser fills them in one pass, and the reader
/// walks them as often as it needs to, since a type may be named before it is declared.
final class CSDLDocument {
    /// A range of ``text``.
    struct Text {
        var start: Int32 = 0
        var end: Int32 = 0
    }

    struct Element {
        var name: CSDLName
        /// The index of the namespace in ``namespaces``; -1 for none.
        var namespace: Int32
        /// The name's text where it is ``CSDLName/other``.
        var otherName: Text
        var firstChild: Int32 = -1
        var nextSibling: Int32 = -1
        var firstAttribute: Int32
        var attributeCount: Int32
        var text = Text()
        var line: Int32
        var column: Int32
    }

    struct Attribute {
        var name: CSDLName
        var namespace: Int32
        var otherName: Text
        var value: Text
    }

    /// An element: its index.
    struct Node: Hashable {
        var index: Int
    }

    /// What the parser fills.
    struct Content {
        var elements: [Element] = []
        var attributes: [Attribute] = []
        var namespaces: [String] = []
        var text: [UInt8] = []
    }

    let elements: [Element]
    let attributes: [Attribute]
    let namespaces: [String]
    let text: [UInt8]

    init(_ content: Content) {
        elements = content.elements
        attributes = content.attributes
        namespaces = content.namespaces
        text = content.text
    }

    func string(_ range: Text) -> String {
        text.withUnsafeBufferPointer {
            String(decoding: $0[Int(range.start)..<Int(range.end)], as: UTF8.self)
        }
    }

    func name(_ node: Node) -> CSDLName { elements[node.index].name }

    /// The local name for messages.
    func localName(_ node: Node) -> String {
        let element = elements[node.index]
        return element.name == .other ? string(element.otherName) : element.name.rawValue
    }

    func namespace(_ node: Node) -> String { namespace(elements[node.index].namespace) }

    func namespace(_ index: Int32) -> String { index < 0 ? "" : namespaces[Int(index)] }

    func children(_ node: Node) -> Children {
        Children(document: self, upcoming: elements[node.index].firstChild)
    }

    func children(_ node: Node, named name: CSDLName) -> [Node] {
        var result: [Node] = []
        var next = elements[node.index].firstChild
        while next >= 0 {
            if elements[Int(next)].name == name { result.append(Node(index: Int(next))) }
            next = elements[Int(next)].nextSibling
        }
        return result
    }

    /// The children of an element in document order.
    struct Children: Sequence, IteratorProtocol {
        let document: CSDLDocument
        var upcoming: Int32

        mutating func next() -> Node? {
            guard upcoming >= 0 else { return nil }
            defer { upcoming = document.elements[Int(upcoming)].nextSibling }
            return Node(index: Int(upcoming))
        }
    }

    /// The value of an attribute, whatever its namespace; an attribute without one goes first.
    func attribute(_ node: Node, _ name: CSDLName) -> String? {
        let element = elements[node.index]
        var found: Text?
        for index in Int(element.firstAttribute)..<Int(element.firstAttribute + element.attributeCount)
        where attributes[index].name == name {
            if attributes[index].namespace < 0 { return string(attributes[index].value) }
            found = attributes[index].value
        }
        return found.map(string)
    }

    func attributes(_ node: Node) -> ArraySlice<Attribute> {
        let element = elements[node.index]
        return attributes[Int(element.firstAttribute)..<Int(element.firstAttribute + element.attributeCount)]
    }

    /// The character data directly within an element.
    func content(_ node: Node) -> String { string(elements[node.index].text) }

    /// An error at an element.
    func error(_ reason: CSDLError.Reason, at node: Node, expected: String) -> CSDLError {
        let element = elements[node.index]
        return CSDLError(reason: reason, line: Int(element.line), column: Int(element.column), expected: expected)
    }

    /// A warning at an element.
    func warning(_ message: String, at node: Node) -> CSDLWarning {
        CSDLWarning(
            message: message, line: Int(elements[node.index].line), column: Int(elements[node.index].column))
    }
}
