/// The elements of a metadata document in flat arrays.
///
/// A parser fills the arrays in one pass. The reader traverses them several times, because a type may be named
/// before its declaration. A JSON document has the elements and attributes of the equivalent XML document. The
/// arrays also contain the elements of referenced documents, each with its own root.
final class CSDLDocument {
    /// The number of a text in ``texts``.
    typealias Text = Int32

    struct Element {
        var name: CSDLName
        /// Whether an attribute belongs to another vocabulary.
        var hasForeignAttributes = false
        /// Whether the element contains an annotation or documentation.
        var hasAnnotations = false
        /// The number of the namespace in ``namespaces``; -1 for none.
        var namespace: Int32
        /// The name if `name` is ``CSDLName/other``.
        var otherName: Text
        var firstChild: Int32 = -1
        var nextSibling: Int32 = -1
        var firstAttribute: Int32
        var attributeCount: Int32 = 0
        /// The character data directly within the element; -1 for none.
        var text: Text = -1
        var line: Int32
        var column: Int32
    }

    struct Attribute {
        var name: CSDLName
        /// The number of the namespace; -1 for none.
        var namespace: Int32
        /// The name if `name` is ``CSDLName/other``.
        var otherName: Text
        var value: Text
    }

    /// The target of an `Annotations` element, split during parsing.
    struct Target {
        /// The index of the element.
        var element: Int32
        /// The whole path.
        var path: Text
        /// The first segment; -1 if the path must be parsed as a whole.
        var head: Text
        /// The text after the first slash; -1 for none.
        var rest: Text
    }

    /// An element, identified by its index.
    struct Node: Hashable {
        var index: Int
    }

    let elements: [Element]
    let attributes: [Attribute]
    let namespaces: [String]
    /// The targets of annotations in document order.
    let targets: [Target]
    let texts: CSDLStringPool
    /// Strings created so far; many texts, such as the targets of annotations, are never requested. The table is
    /// behind a pointer to avoid the exclusivity checks of class properties.
    private let strings: UnsafeMutablePointer<CSDLTextTable<String>>
    /// The root of one of the documents.
    struct Root {
        var node: Node
        /// The source of the document; `nil` for the first document.
        var source: String?
        /// Whether the document is in JSON, in which constants of annotations do not state their kinds.
        var isJSON = false
    }

    /// The root of each document.
    let roots: [Root]

    init(_ content: CSDLContent) {
        elements = content.elements
        attributes = content.attributes
        namespaces = content.namespaces
        targets = content.targets
        texts = content.strings
        strings = .allocate(capacity: 1)
        strings.initialize(to: CSDLTextTable(count: texts.count, capacity: texts.count / 2))
        roots = content.roots
    }

    deinit {
        strings.deinitialize(count: 1)
        strings.deallocate()
    }

    func string(_ text: Text) -> String {
        // Short strings are stored inline, so that caching them saves no memory.
        if texts.count(text) <= 15 { return texts[text] }
        if let known = strings.pointee[text] { return known }
        let string = texts[text]
        strings.pointee.insert(string, for: text)
        return string
    }

    func name(_ node: Node) -> CSDLName { elements[node.index].name }

    /// Returns the local name for use in messages.
    func localName(_ node: Node) -> String {
        let element = elements[node.index]
        return element.name == .other ? string(element.otherName) : element.name.rawValue
    }

    func namespace(_ node: Node) -> String { namespace(elements[node.index].namespace) }

    func namespace(_ index: Int32) -> String { index < 0 ? "" : namespaces[Int(index)] }

    func children(_ node: Node) -> Children {
        Children(document: self, upcoming: elements[node.index].firstChild)
    }

    func hasChildren(_ node: Node) -> Bool { elements[node.index].firstChild >= 0 }

    func children(_ node: Node, named name: CSDLName) -> [Node] {
        var result: [Node] = []
        var next = elements[node.index].firstChild
        while next >= 0 {
            if elements[Int(next)].name == name { result.append(Node(index: Int(next))) }
            next = elements[Int(next)].nextSibling
        }
        return result
    }

    /// The number of children of frequent kinds, used to reserve capacity.
    struct ChildCounts {
        var structuredTypes = 0
        var enumTypes = 0
        var typeDefinitions = 0
        var operations = 0
        var annotations = 0
    }

    func childCounts(_ node: Node) -> ChildCounts {
        var result = ChildCounts()
        var next = elements[node.index].firstChild
        while next >= 0 {
            switch elements[Int(next)].name {
            case .entityType, .complexType: result.structuredTypes += 1
            case .enumType: result.enumTypes += 1
            case .typeDefinition: result.typeDefinitions += 1
            case .action, .function: result.operations += 1
            case .annotations: result.annotations += 1
            default: break
            }
            next = elements[Int(next)].nextSibling
        }
        return result
    }

    /// Returns the number of children with a name, used to reserve capacity.
    func count(_ node: Node, named name: CSDLName) -> Int {
        var result = 0
        var next = elements[node.index].firstChild
        while next >= 0 {
            if elements[Int(next)].name == name { result += 1 }
            next = elements[Int(next)].nextSibling
        }
        return result
    }

    func child(_ node: Node, named name: CSDLName) -> Node? {
        var next = elements[node.index].firstChild
        while next >= 0 {
            if elements[Int(next)].name == name { return Node(index: Int(next)) }
            next = elements[Int(next)].nextSibling
        }
        return nil
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

    /// Returns the target of an `Annotations` element; `nil` if none is stated.
    ///
    /// - Parameter hint: the index of the expected target, which is advanced for the next call.
    func target(of node: Node, hint: inout Int) -> Target? {
        if hint < targets.count, Int(targets[hint].element) == node.index {
            hint += 1
            return targets[hint - 1]
        }
        var low = 0
        var high = targets.count
        while low < high {
            let middle = (low + high) / 2
            if Int(targets[middle].element) < node.index { low = middle + 1 } else { high = middle }
        }
        guard low < targets.count, Int(targets[low].element) == node.index else { return nil }
        hint = low + 1
        return targets[low]
    }

    /// Returns the number of an attribute's value, in any namespace; an attribute without namespace takes
    /// precedence.
    func attributeText(_ node: Node, _ name: CSDLName) -> Text? {
        let first = Int(elements[node.index].firstAttribute)
        var found: Text?
        for index in first..<first + Int(elements[node.index].attributeCount) where attributes[index].name == name {
            if attributes[index].namespace < 0 { return attributes[index].value }
            found = attributes[index].value
        }
        return found
    }

    /// Returns the value of an attribute, in any namespace; an attribute without namespace takes precedence.
    func attribute(_ node: Node, _ name: CSDLName) -> String? { attributeText(node, name).map { string($0) } }

    func attributeRange(_ node: Node) -> Range<Int> {
        let first = Int(elements[node.index].firstAttribute)
        return first..<first + Int(elements[node.index].attributeCount)
    }

    func attributes(_ node: Node) -> ArraySlice<Attribute> { attributes[attributeRange(node)] }

    /// Returns the name of an attribute.
    func name(_ attribute: Attribute) -> String {
        attribute.name == .other ? string(attribute.otherName) : attribute.name.rawValue
    }

    /// Returns the character data directly within an element.
    func content(_ node: Node) -> String {
        let text = elements[node.index].text
        return text < 0 ? "" : string(text)
    }

    /// Returns an error with the position of an element.
    func error(_ reason: CSDLError.Reason, at node: Node, expected: String) -> CSDLError {
        let element = elements[node.index]
        return CSDLError(
            reason: reason, line: Int(element.line), column: Int(element.column), expected: expected,
            source: source(node))
    }

    /// Returns a warning with the position of an element.
    func warning(_ message: String, at node: Node) -> CSDLWarning {
        let element = elements[node.index]
        return CSDLWarning(
            message: message, line: Int(element.line), column: Int(element.column), source: source(node))
    }

    /// Returns the source of the document that contains an element.
    private func source(_ node: Node) -> String? { roots.last { $0.node.index <= node.index }?.source }
}

/// The arrays that a parser fills, from which a ``CSDLDocument`` is created.
struct CSDLContent {
    var elements: [CSDLDocument.Element] = []
    var attributes: [CSDLDocument.Attribute] = []
    var namespaces: [String] = []
    var strings = CSDLStringPool()
    private(set) var targets: [CSDLDocument.Target] = []
    var roots: [CSDLDocument.Root] = []
    /// The open elements with the last child of each, used to link siblings.
    private var open: [(element: Int32, lastChild: Int32)] = []
    private var namespaceNumbers: [String: Int32] = [:]

    var depth: Int { open.count }

    /// Moves the content to the caller and leaves an empty one, so that the caller changes the arrays without a copy.
    mutating func take() -> CSDLContent {
        var result = CSDLContent()
        swap(&result, &self)
        return result
    }

    /// Reserves the typical capacity for a document of this size.
    mutating func reserve(documentBytes: Int) {
        elements.reserveCapacity(elements.count + documentBytes / 80)
        attributes.reserveCapacity(attributes.count + documentBytes / 40)
        strings.reserve(documentBytes: documentBytes)
    }

    mutating func begin(
        _ name: CSDLName, otherName: CSDLDocument.Text = -1, namespace: Int32 = -1, line: Int32, column: Int32
    ) {
        let index = Int32(elements.count)
        elements.append(
            CSDLDocument.Element(
                name: name, namespace: namespace, otherName: otherName, firstAttribute: Int32(attributes.count),
                line: line, column: column))
        if open.isEmpty {
            roots.append(CSDLDocument.Root(node: CSDLDocument.Node(index: Int(index))))
        } else {
            let parent = open.count - 1
            let last = open[parent].lastChild
            if last < 0 {
                elements[Int(open[parent].element)].firstChild = index
            } else {
                elements[Int(last)].nextSibling = index
            }
            open[parent].lastChild = index
            switch name {
            case .annotation, .valueAnnotation, .typeAnnotation, .documentation:
                elements[Int(open[parent].element)].hasAnnotations = true
            default: break
            }
        }
        open.append((index, -1))
    }

    /// Adds an attribute to the last element, which must not have children yet.
    mutating func attribute(
        _ name: CSDLName, otherName: CSDLDocument.Text = -1, namespace: Int32 = -1, value: CSDLDocument.Text
    ) {
        attributes.append(
            CSDLDocument.Attribute(name: name, namespace: namespace, otherName: otherName, value: value))
        // Only the last element that was begun accepts attributes.
        let element = elements.count - 1
        elements[element].attributeCount += 1
        if namespace >= 0 || name == .other { elements[element].hasForeignAttributes = true }
    }

    /// Returns the number of an attribute's value.
    ///
    /// Descriptions and whole targets of annotations hardly ever repeat and are stored without a search. The
    /// segments of targets do repeat and are looked up.
    mutating func value(_ text: UnsafeBufferPointer<UInt8>, of name: CSDLName) -> CSDLDocument.Text {
        if name == .string { return strings.append(text) }
        guard name == .target, elements.last?.name == .annotations else { return strings.id(text) }
        let path = strings.append(text)
        guard !text.isEmpty else { return path }
        let slash = text.firstIndex(of: UInt8(ascii: "/")) ?? text.count
        // Paths with parameter types of an overload or with aliases in later segments must be parsed as a whole.
        let isPlain = !text.contains(UInt8(ascii: "(")) && !text[slash...].contains(UInt8(ascii: "."))
        var target = CSDLDocument.Target(element: Int32(elements.count - 1), path: path, head: -1, rest: -1)
        if isPlain {
            // Tools usually write all targets of one element in sequence.
            if let last = targets.last, last.head >= 0, strings.count(last.head) == slash,
                strings.haveSamePrefix(last.path, path, length: slash)
            {
                target.head = last.head
            } else {
                target.head = strings.id(UnsafeBufferPointer(rebasing: text[..<slash]))
            }
            if slash < text.count { target.rest = strings.id(UnsafeBufferPointer(rebasing: text[(slash + 1)...])) }
        }
        targets.append(target)
        return path
    }

    /// Returns the number of a namespace.
    mutating func namespace(_ uri: String) -> Int32 {
        if let known = namespaceNumbers[uri] { return known }
        let number = Int32(namespaces.count)
        namespaces.append(uri)
        namespaceNumbers[uri] = number
        return number
    }

    mutating func attribute(_ name: CSDLName, _ value: String) {
        var text = value
        attribute(name, value: text.withUTF8 { self.value($0, of: name) })
    }

    mutating func end(text: UnsafeBufferPointer<UInt8>? = nil) {
        guard let last = open.popLast() else { return }
        if let text, last.lastChild < 0 { elements[Int(last.element)].text = strings.id(text) }
    }
}
