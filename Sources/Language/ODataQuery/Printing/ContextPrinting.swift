import ODataModel

extension ContextURL: CustomStringConvertible {
    /// The fragment after `#`, percent-encoded as in a URL.
    public var description: String {
        var writer = QueryWriter(.wire)
        switch target {
        case .reference: writer.write("$ref")
        case .references: writer.write("Collection($ref)")
        case .collection(let type): writer.write("Collection(\(type))")
        case .path(let segments):
            writer.list(segments, separator: "/") {
                $0.write($1.name.text)
                if let key = $1.key { $0.write(key) }
            }
        }
        if let items { writer.write(items) }
        if let suffix { writer.write("/\(suffix.rawValue)") }
        return writer.text
    }
}

extension QueryWriter {
    fileprivate mutating func write(_ items: [ContextURL.Item]) {
        write("(")
        list(items) {
            $0.write(Self.joined($1.path))
            if $1.isRecursive { $0.delimiter("+") }
            if let inner = $1.items { $0.write(inner) }
        }
        write(")")
    }
}
