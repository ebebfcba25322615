/// The types of terms and of the properties of complex types.
///
/// CSDL JSON represents constants of all kinds as strings and numbers. Only the type distinguishes a path, a member
/// or a date from a string (OData CSDL JSON 4.01, 14.3 and 14.4.1). The table contains the types that the documents
/// and the standard vocabularies declare. For other terms, a string remains a string constant, and a number keeps
/// its JSON type.
struct CSDLConstantTypes {
    /// The types by full name. A property's name follows the name of its type and a slash.
    private var types: [String: String] = [:]
    private var baseTypes: [String: String] = [:]

    mutating func declare(_ name: String, _ type: String) { types[name] = type }
    mutating func declare(_ type: String, derivedFrom base: String) { baseTypes[type] = base }

    /// Returns the type of a term.
    func type(of term: String) -> String? { types[term] ?? StandardVocabularies.type(of: term) }

    /// Returns the type of a property of a complex type, which may be inherited.
    func type(of property: String, in type: String) -> String? {
        var current = type
        for _ in 0..<CSDLReader.maxDepth {
            if let found = self.type(of: "\(current)/\(property)") { return found }
            guard let base = baseTypes[current] else { return nil }
            current = base
        }
        return nil
    }
}

extension CSDLBuilder {
    /// Adds the terms and complex types that annotations may use.
    mutating func declareConstantTypes(_ schemas: [Node]) {
        for schema in schemas {
            let namespace = document.attribute(schema, .namespace) ?? ""
            for node in document.children(schema) {
                let kind = document.name(node)
                guard kind == .term || kind == .valueTerm || kind == .complexType,
                    let name = document.attribute(node, .name).map({ "\(namespace).\($0)" })
                else { continue }
                guard kind == .complexType else {
                    if let type = document.attribute(node, .type) {
                        constantTypes.declare(name, resolver.typeName(type))
                    }
                    continue
                }
                if let base = document.attribute(node, .baseType) {
                    constantTypes.declare(name, derivedFrom: resolver.fullName(base))
                }
                for property in document.children(node, named: .property) {
                    guard let own = document.attribute(property, .name), let type = document.attribute(property, .type)
                    else { continue }
                    constantTypes.declare("\(name)/\(own)", resolver.typeName(type))
                }
            }
        }
    }

    /// Returns an expression whose constants have the kinds that the type implies; unchanged if the type is
    /// unknown.
    func typed(_ expression: AnnotationExpression, _ type: String?) -> AnnotationExpression {
        let element = type.map { $0.collectionElement.map(String.init) ?? $0 }
        switch expression {
        case .collection(let items): return .collection(items.map { typed($0, element) })
        case .record(let stated, let properties):
            guard let owner = stated ?? element else { return expression }
            return .record(
                type: stated,
                properties: properties.map { property in
                    // Annotations among the properties have been typed by their own terms.
                    guard !property.name.utf8.contains(UInt8(ascii: "@")), let value = property.value else {
                        return property
                    }
                    return .init(
                        name: property.name, value: typed(value, constantTypes.type(of: property.name, in: owner)))
                })
        case .constant(let kind, let text):
            guard let element else { return expression }
            return typedConstant(kind, text, type: element)
        case .dynamic("If", let attributes, let operands):
            // The condition has its own type.
            let branches = operands.dropFirst().map { typed($0, type) }
            return .dynamic(element: "If", attributes: attributes, operands: operands.prefix(1) + branches)
        case .path, .dynamic: return expression
        }
    }

    private func typedConstant(_ kind: String, _ text: String, type: String) -> AnnotationExpression {
        let stated = AnnotationExpression.constant(kind: kind, text: text)
        guard kind != "Bool" else { return stated }
        var primitive = type
        if let name = QualifiedName(type), let declared = resolver.declared[name]?.type {
            switch declared {
            case .enumeration: return member(kind, text, type: type) ?? stated
            case .typeDefinition(_, let underlying): primitive = underlying.rawValue
            default: return stated
            }
        } else if StandardVocabularies.isEnumeration(type) {
            return member(kind, text, type: type) ?? stated
        }
        switch primitive {
        case "Edm.AnnotationPath", "Edm.AnyPropertyPath", "Edm.ModelElementPath", "Edm.NavigationPropertyPath",
            "Edm.PropertyPath":
            return kind == "String"
                ? .path(kind: String(primitive.dropFirst(4)), text: resolver.path(text.trimmed)) : stated
        case "Edm.Binary", "Edm.Date", "Edm.DateTimeOffset", "Edm.Duration", "Edm.Guid", "Edm.TimeOfDay":
            return kind == "String" ? .constant(kind: String(primitive.dropFirst(4)), text: text.trimmed) : stated
        case "Edm.Decimal": return .constant(kind: "Decimal", text: text.trimmed)
        case "Edm.Double", "Edm.Single": return .constant(kind: "Float", text: text.trimmed)
        default: return stated
        }
    }

    /// Returns enumeration members for a JSON cast of their names to the enumeration type; `nil` for every other
    /// expression.
    ///
    /// CSDL JSON uses such a cast if the context does not imply the type (OData CSDL JSON 4.01, 14.4.5).
    func members(
        _ element: String, _ attributes: [String: String], operands: [AnnotationExpression]
    ) -> AnnotationExpression? {
        guard element == "Cast", attributes.count == 1, let type = attributes["Type"], operands.count == 1,
            case .constant(let kind, let text) = operands[0], isEnumeration(type)
        else { return nil }
        return member(kind, text, type: type)
    }

    private func isEnumeration(_ type: String) -> Bool {
        guard let name = QualifiedName(type), let declared = resolver.declared[name]?.type else {
            return StandardVocabularies.isEnumeration(type)
        }
        if case .enumeration = declared { return true }
        return false
    }

    /// Returns the members of an enumeration in XML notation, each with its type; `nil` for numbers and invalid
    /// names.
    private func member(_ kind: String, _ text: String, type: String) -> AnnotationExpression? {
        guard kind == "String" else { return nil }
        let names = text.parts(between: ",").map { String($0).trimmed }
        guard !names.isEmpty, names.allSatisfy(\.isMemberName) else { return nil }
        return .constant(kind: "EnumMember", text: names.map { "\(type)/\($0)" }.joined(separator: " "))
    }
}

extension String {
    /// Whether the string can be the name of an enumeration member: no number, and none of the separators of XML
    /// notation.
    var isMemberName: Bool {
        guard let first = utf8.first, first > UInt8(ascii: "9") else { return false }
        return utf8.allSatisfy { $0 > 0x20 && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ".") }
    }
}
