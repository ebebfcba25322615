import ODataModel

extension Translator {
    /// Returns the declaration of an enumeration. It is an option set if values combine members, or if there
    /// are no members.
    func enumeration(_ type: EnumType) -> SwiftDeclaration {
        let isOptionSet = type.isFlags || type.members.isEmpty
        var seen: [Int64: String] = [:]
        var members: [SwiftDeclaration] = []
        var aliases: [SwiftDeclaration] = []
        for member in type.members {
            let name = names.member(member.name, of: type.name)
            let documentation = Self.documentation(member, Self.code(member.name) + ".")
            if isOptionSet {
                members.append(
                    constant(
                        documentation, name, value: "\(names.type(type.name))(rawValue: \(member.value))",
                        type: type.name))
            } else if let first = seen[member.value] {
                // Several members may have the same number, but cases of a Swift enumeration may not.
                aliases.append(
                    .property(
                        SwiftProperty(
                            documentation: documentation, isStatic: true, name: name, type: names.type(type.name),
                            body: .computed(".\(SwiftName.quoted(first))"))))
            } else {
                seen[member.value] = name
                members.append(.enumerationCase(documentation: documentation, name: name, value: "\(member.value)"))
            }
        }
        var requirements = [
            SwiftDeclaration.property(
                SwiftProperty(
                    isStatic: true, name: "typeName", type: "QualifiedName",
                    body: .constant(Self.literal(type.name)))),
            .property(
                SwiftProperty(
                    isStatic: true, name: "odataModel", type: "EntityDataModel",
                    body: .computed("\(names.metadata).model"))),
        ]
        if isOptionSet {
            requirements.append(.property(SwiftProperty(name: "rawValue", type: "Int64", body: .variable)))
            requirements.append(
                .function(
                    SwiftFunction(
                        parameters: [.init(name: "rawValue", type: "Int64")], body: ["self.rawValue = rawValue"])))
        }
        return .type(
            SwiftType(
                kind: isOptionSet ? .struct : .enum,
                documentation: Self.documentation(
                    type, "\(Self.code(type.name))\(type.isFlags ? ", with values that combine members" : "")."),
                name: names.type(type.name),
                inherits: isOptionSet ? ["TypedFlags"] : ["Int64", "TypedEnumeration", "CaseIterable"],
                members: members + requirements + aliases))
    }

    private func constant(
        _ documentation: [String], _ name: String, value: String, type: QualifiedName
    ) -> SwiftDeclaration {
        .property(
            SwiftProperty(
                documentation: documentation, isStatic: true, name: name, type: names.type(type),
                body: .constant(value)))
    }
}
