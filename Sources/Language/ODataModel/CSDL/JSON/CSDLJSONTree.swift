/// The values of a JSON text in flat arrays. The whole text is stored before interpretation because CSDL JSON may
/// state the type of an element after its children.
struct CSDLJSONTree {
    enum Value {
        case object
        case array
        case string(String)
        /// A number in its original notation.
        case number(String)
        case boolean(Bool)
        case null
    }

    struct Node {
        var value: Value
        /// The name of the member; empty for array elements.
        var key: String
        var line: Int32
        var column: Int32
        var firstChild: Int32 = -1
        var nextSibling: Int32 = -1
    }

    private(set) var nodes: [Node] = []

    /// Reads a whole JSON text.
    init(_ bytes: [UInt8]) throws(JSONError) {
        var lines = LineCounter()
        nodes = try JSONScanner.scan(bytes) { (scanner) throws(JSONError) in
            var nodes: [Node] = []
            try Self.read(&scanner, key: "", nodes: &nodes, lines: &lines, bytes: bytes)
            try scanner.expectEnd()
            return nodes
        }
    }

    /// Reads a value recursively; ``JSONScanner/maxDepth`` limits the recursion.
    private static func read(
        _ scanner: inout JSONScanner, key: String, nodes: inout [Node], lines: inout LineCounter, bytes: [UInt8]
    ) throws(JSONError) {
        let kind = try scanner.peekKind()
        let (line, column) = lines.position(of: scanner.offset, in: bytes)
        guard nodes.count < CSDLReader.maxElements else {
            throw scanner.error(
                .invalidValue("more than \(CSDLReader.maxElements) values"), at: scanner.offset,
                expected: "a smaller document")
        }
        let index = nodes.count
        nodes.append(Node(value: .null, key: key, line: line, column: column))
        switch kind {
        case .object:
            nodes[index].value = .object
            var last: Int?
            var names = JSONMemberSet()
            try scanner.beginObject()
            while let key = try scanner.nextKey() {
                try names.insert(key, in: scanner)
                let child = nodes.count
                try read(&scanner, key: key.string, nodes: &nodes, lines: &lines, bytes: bytes)
                link(child, after: &last, in: index, &nodes)
            }
        case .array:
            nodes[index].value = .array
            var last: Int?
            try scanner.beginArray()
            while try scanner.nextElement() {
                let child = nodes.count
                try read(&scanner, key: "", nodes: &nodes, lines: &lines, bytes: bytes)
                link(child, after: &last, in: index, &nodes)
            }
        case .string: nodes[index].value = .string(try scanner.readString())
        case .number:
            let range = try scanner.skipValue()
            nodes[index].value = .number(scanner.rawText(range))
        case .boolean: nodes[index].value = .boolean(try scanner.readBoolean())
        case .null: try scanner.readNull()
        }
    }

    private static func link(_ child: Int, after last: inout Int?, in parent: Int, _ nodes: inout [Node]) {
        if let last { nodes[last].nextSibling = Int32(child) } else { nodes[parent].firstChild = Int32(child) }
        last = child
    }

    /// Returns the children of an object or array in document order.
    func children(_ node: Int) -> [Int] {
        var result: [Int] = []
        var next = nodes[node].firstChild
        while next >= 0 {
            result.append(Int(next))
            next = nodes[Int(next)].nextSibling
        }
        return result
    }

    /// Returns the member of an object with a name.
    func member(_ node: Int, _ key: String) -> Int? {
        var next = nodes[node].firstChild
        while next >= 0 {
            if nodes[Int(next)].key == key { return Int(next) }
            next = nodes[Int(next)].nextSibling
        }
        return nil
    }

    func string(_ node: Int, _ key: String) -> String? {
        if let member = member(node, key), case .string(let text) = nodes[member].value { text } else { nil }
    }

    func boolean(_ node: Int, _ key: String) -> Bool? {
        if let member = member(node, key), case .boolean(let value) = nodes[member].value { value } else { nil }
    }

    func isObject(_ node: Int) -> Bool {
        if case .object = nodes[node].value { true } else { false }
    }

    /// Returns the text of a string, number, boolean or null, in the notation of XML attributes.
    func text(_ node: Int) -> String? {
        switch nodes[node].value {
        case .string(let text), .number(let text): text
        case .boolean(let value): value ? "true" : "false"
        case .null: "null"
        case .object, .array: nil
        }
    }
}

/// Counts lines during a single pass through a text.
private struct LineCounter {
    private var offset = 0
    private var line: Int32 = 1
    private var lineStart = 0

    /// Returns the line and column of an offset, both counted from 1; offsets must not decrease.
    mutating func position(of target: Int, in bytes: [UInt8]) -> (line: Int32, column: Int32) {
        while offset < target {
            if bytes[offset] == UInt8(ascii: "\n") {
                line += 1
                lineStart = offset + 1
            }
            offset += 1
        }
        return (line, Int32(target - lineStart + 1))
    }
}
