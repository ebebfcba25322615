import Yams

/// The keys of a part of the configuration: each is read into, and written from, a value.
struct ConfigurationSection<Root: Hashable> {
    struct Field {
        var key: String
        var isRequired: Bool
        var read: (inout Root, Node, String, ConfigurationReader) -> Void
        var write: (_ root: Root, _ standard: Root) -> ConfigurationTree?
    }

    var fields: [Field]

    init(_ fields: [Field]) { self.fields = fields }

    /// Reads the keys of a mapping into a value. Unknown keys are mistakes.
    func read(_ node: Node, into root: inout Root, named name: String, _ reader: ConfigurationReader) {
        var seen: Set<String> = []
        for (key, place, value) in reader.entries(of: node, named: name) {
            guard let field = fields.first(where: { $0.key == key }) else {
                reader.noteUnknown(key, place, among: fields.map(\.key), of: name)
                continue
            }
            seen.insert(key)
            field.read(&root, value, name.isEmpty || name == "The configuration" ? key : "\(name).\(key)", reader)
        }
        for field in fields where field.isRequired && !seen.contains(field.key) {
            reader.note(node, "\(name) needs the key '\(field.key)'.")
        }
    }

    /// Writes the values that differ from the standard ones.
    func write(_ root: Root, standard: Root) -> ConfigurationTree {
        var map: [String: ConfigurationTree] = [:]
        for field in fields {
            if let value = field.write(root, standard) { map[field.key] = value }
        }
        return .map(map)
    }
}

extension ConfigurationSection.Field {
    /// A key with a value.
    static func value<Value>(
        _ key: String, _ path: WritableKeyPath<Root, Value>, as codec: ConfigurationCodec<Value>,
        isRequired: Bool = false
    ) -> Self {
        Self(
            key: key, isRequired: isRequired,
            read: { root, node, name, reader in
                if let value = codec.read(node, name, reader) { root[keyPath: path] = value }
            },
            write: { root, standard in
                let value = root[keyPath: path]
                guard isRequired || value != standard[keyPath: path] else { return nil }
                return codec.write(value)
            })
    }

    /// A key with further keys.
    static func section<Inner>(
        _ key: String, _ path: WritableKeyPath<Root, Inner>, of section: ConfigurationSection<Inner>
    ) -> Self {
        Self(
            key: key, isRequired: false,
            read: { root, node, name, reader in
                section.read(node, into: &root[keyPath: path], named: name, reader)
            },
            write: { root, standard in
                let tree = section.write(root[keyPath: path], standard: standard[keyPath: path])
                return tree.isEmpty ? nil : tree
            })
    }
}

extension ConfigurationCodec {
    /// The keys of a section as a value, for lists and maps of sections.
    static func keys(_ section: ConfigurationSection<Value>, from standard: Value) -> Self {
        .init(
            read: { node, name, reader in
                var value = standard
                section.read(node, into: &value, named: name, reader)
                return value
            }, write: { section.write($0, standard: standard) })
    }
}
