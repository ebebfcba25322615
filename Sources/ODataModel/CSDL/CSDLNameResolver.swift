/// Turns the names in a document into what they stand for: aliases into namespaces, type names into types.
struct CSDLNameResolver {
    /// Namespaces by alias, for the whole document (OData CSDL 4.01, 5.1).
    var namespaces: [String: String] = [:]
    /// What the document declares, by full name.
    var declared: [String: TypeReference] = [:]
    private var resolved: [String: TypeReference] = [:]

    /// A dotted name with its alias replaced.
    func fullName(_ name: some StringProtocol) -> String {
        let name = Substring(name)
        guard !namespaces.isEmpty, let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")),
            let namespace = namespaces[String(name[..<dot])]
        else { return String(name) }
        return namespace + name[dot...]
    }

    func qualifiedName(_ text: String) -> QualifiedName? { QualifiedName(fullName(text)) }

    /// The type with a name; the flag tells whether it is known.
    mutating func type(_ text: String) -> (type: TypeReference, isKnown: Bool) {
        if let type = resolved[text] { return (type, Self.isKnown(type)) }
        let type: TypeReference
        if text.hasPrefix("Collection("), text.hasSuffix(")") {
            type = .collection(self.type(String(text.dropFirst(11).dropLast())).type)
        } else {
            let name = fullName(text)
            // CSDL 1 leaves out `Edm.`.
            type =
                declared[name] ?? TypeReference(builtIn: name)
                ?? (name.contains(".") ? nil : TypeReference(builtIn: "Edm." + name)) ?? .untyped(name)
        }
        resolved[text] = type
        return (type, Self.isKnown(type))
    }

    private static func isKnown(_ type: TypeReference) -> Bool {
        guard case .untyped(let name) = type.element else { return true }
        return TypeReference(builtIn: name) != nil
    }

    /// A path with the aliases in its segments replaced: type casts, terms, and the argument types of
    /// operation overloads.
    func path(_ text: String) -> String {
        // Most paths are simple names, and bytes are compared faster than characters.
        guard !namespaces.isEmpty, text.utf8.contains(UInt8(ascii: ".")) else { return text }
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "(") }) else {
            return segment(text)
        }
        var result = ""
        var depth = 0
        var segment = ""
        // A slash within an overload's parentheses would belong to it, though no type name has one.
        for character in text {
            if character == "(" { depth += 1 }
            if character == ")" { depth -= 1 }
            if character == "/", depth <= 0 {
                result += self.segment(segment) + "/"
                segment = ""
            } else {
                segment.append(character)
            }
        }
        return result + self.segment(segment)
    }

    private func segment(_ text: String) -> String {
        if let at = text.utf8.firstIndex(of: UInt8(ascii: "@")) {
            let term = text[text.index(after: at)...]
            guard let hash = term.firstIndex(of: "#") else { return text[...at] + fullName(term) }
            return text[...at] + fullName(term[..<hash]) + term[hash...]
        }
        guard let parenthesis = text.utf8.firstIndex(of: UInt8(ascii: "(")), text.hasSuffix(")") else {
            return fullName(text)
        }
        let arguments = text[text.index(after: parenthesis)...].dropLast()
        let types = arguments.split(separator: ",", omittingEmptySubsequences: false).map { argument in
            argument.hasPrefix("Collection(") && argument.hasSuffix(")")
                ? "Collection(\(fullName(argument.dropFirst(11).dropLast())))" : fullName(argument)
        }
        return "\(fullName(text[..<parenthesis]))(\(types.joined(separator: ",")))"
    }
}
