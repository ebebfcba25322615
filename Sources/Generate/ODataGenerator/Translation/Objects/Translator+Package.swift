import ODataModel

/// The translation of a package: its name, its database, its groups and its personalization keys.
extension Translator {
    /// Returns the declarations of the package itself.
    mutating func package(_ package: PackageModel) -> [SwiftDeclaration] {
        omitOperations()
        let hasKeys = !package.keys.isEmpty
        let name = names.package
        var members: [SwiftDeclaration] = [
            .alias(
                documentation: [], name: "Personalization",
                type: hasKeys ? names.personalization : "NoPersonalization<\(name)>"),
            .property(
                SwiftProperty(
                    isStatic: true, name: "metadata", type: "GeneratedMetadata",
                    body: .computed("\(names.metadata).metadata"))),
        ]
        members += unboundOperations()
        var result: [SwiftDeclaration] = [
            .type(
                SwiftType(
                    kind: .enum,
                    documentation: Self.documentation(
                        model.container,
                        "The package \(Self.code(package.name)), version \(Self.lines(package.version).joined())."),
                    name: name, inherits: ["ObjectPackage"], members: members)),
            .alias(
                documentation: ["The database of the package \(Self.code(package.name))."], name: names.database,
                type: "PackageDatabase<\(name)>"),
        ]
        let sets = self.sets(package)
        if !sets.isEmpty {
            result.append(
                .type(
                    SwiftType(
                        kind: .extension, name: "PackageDatabase", constraint: "Package == \(name)", members: sets)))
        }
        let groups = groups(package)
        if !groups.isEmpty {
            result.append(
                .type(
                    SwiftType(kind: .extension, name: "GroupName", constraint: "Package == \(name)", members: groups)))
        }
        if hasKeys { result.append(personalization(package)) }
        return result
    }

    private func sets(_ package: PackageModel) -> [SwiftDeclaration] {
        model.container.entitySets.sorted { $0.name < $1.name }
            .filter { subset.isWanted($0.name) && subset.contains($0.type) }.map { set in
                let type = "ObjectSet<\(names.type(set.type))>"
                let isFirst = self.sets(of: set.type).first?.name == set.name
                let value = isFirst ? "ObjectSet(self)" : "ObjectSet(self, entitySet: \(Self.literal(set.name)))"
                let group = package.sets[set.name]?.group ?? package.defaultGroup
                return .property(
                    SwiftProperty(
                        documentation: Self.documentation(
                            set, "\(Self.code(set.name)), in the group \(Self.code(group))."),
                        name: names.set(set.name), type: type, body: .computed(value)))
            }
    }

    private func groups(_ package: PackageModel) -> [SwiftDeclaration] {
        var scope = NameScope()
        let used = Set(package.sets.values.filter { subset.isWanted($0.name) }.map(\.group))
        return package.groups.values.sorted { $0.name < $1.name }
            .filter { used.contains($0.name) && !["default", PackageModel.systemGroup].contains($0.name) }.map {
                group in
                let name = scope.name(SwiftName.member(group.name), reserved: ReservedNames.groupNames)
                let facts = "The synchronization group \(Self.code(group.name))."
                return .property(
                    SwiftProperty(
                        documentation: group.summary.map { Self.lines($0) + ["", facts] } ?? [facts], isStatic: true,
                        name: name, type: "Self", body: .computed(Self.literal(group.name))))
            }
    }

    private func personalization(_ package: PackageModel) -> SwiftDeclaration {
        var scope = NameScope(reserved: ["values"])
        var members: [SwiftDeclaration] = [
            .alias(documentation: [], name: "Package", type: names.package),
            .property(SwiftProperty(name: "values", type: "PersonalizationValues", body: .variable)),
            .function(
                SwiftFunction(
                    parameters: [.init(name: "values", type: "PersonalizationValues")],
                    body: ["self.values = values"])),
        ]
        for key in package.keys {
            let place =
                switch key.scope {
                case .client: "kept on this device"
                case .server: "kept at the service"
                case .session: "kept in memory"
                }
            let value = key.defaultValue.map { "; \(Self.code($0)) unless set" } ?? ""
            members.append(
                .property(
                    SwiftProperty(
                        documentation: ["\(Self.code(key.name)), \(key.type.rawValue), \(place)\(value)."],
                        name: scope.name(SwiftName.member(key.name)),
                        type: "\(swiftType(.primitive(key.type)))?",
                        body: .accessors(
                            get: "values[\(Self.literal(key.name))]",
                            set: "values[\(Self.literal(key.name))] = newValue"
                        ))))
        }
        return .type(
            SwiftType(
                kind: .struct,
                documentation: ["The personalization keys of the package \(Self.code(package.name))."],
                name: names.personalization, inherits: ["PersonalizationKeys"], members: members))
    }
}
