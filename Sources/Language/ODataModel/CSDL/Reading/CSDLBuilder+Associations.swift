extension CSDLBuilder {
    mutating func readAssociations(_ schemas: [Node]) throws(CSDLError) {
        for schema in schemas {
            namespace = document.attribute(schema, .namespace) ?? ""
            for node in document.children(schema, named: .association) {
                do throws(CSDLError) {
                    let name = QualifiedName(namespace, try required(node, .name, expected: "the association's name"))
                    guard associationNodes[name.description] == nil else {
                        warn("The association \(name) is declared twice: the first one holds.", at: node)
                        continue
                    }
                    associationNodes[name.description] = node
                    associations[name.description] = try readAssociation(node, name)
                } catch {
                    try leaveOut(node, error)
                }
            }
        }
    }

    /// Records the navigation properties of each association. The partner of a property is the property that uses
    /// the same association in the other direction.
    mutating func findAssociationProperties(_ schemas: [Node]) {
        guard !associations.isEmpty else { return }
        for schema in schemas {
            namespace = document.attribute(schema, .namespace) ?? ""
            for type in document.children(schema, named: .entityType) {
                guard let typeName = document.attribute(type, .name) else { continue }
                for property in document.children(type, named: .navigationProperty) {
                    guard let relationship = document.attribute(property, .relationship),
                        let role = document.attribute(property, .fromRole),
                        let name = document.attribute(property, .name)
                    else { continue }
                    let association =
                        resolver.qualifiedName(relationship) ?? resolver.qualified(relationship, in: namespace)
                    guard let association else { continue }
                    associationProperties[association.description, default: [:]][role] = (
                        QualifiedName(namespace, typeName), name
                    )
                }
            }
        }
    }

    /// Reads `Association`; returns `nil` with a warning if it does not have two ends.
    private mutating func readAssociation(_ node: Node, _ name: QualifiedName) throws(CSDLError) -> Association? {
        var association = Association(name: name, ends: [], annotations: try readAnnotations(node))
        for child in document.children(node, named: .end) {
            let type = try qualifiedName(child, .type)
            let text = document.attribute(child, .multiplicity) ?? "*"
            let multiplicity = Multiplicity(rawValue: text)
            if multiplicity == nil {
                warn("Multiplicity=\"\(text)\" is none of 1, 0..1 and *, and was read as *.", at: child)
            }
            association.ends.append(
                Association.End(
                    role: document.attribute(child, .role) ?? type.name, type: type,
                    multiplicity: multiplicity ?? .many,
                    onDelete: try document.child(child, named: .onDelete).flatMap { (node) throws(CSDLError) in
                        try readOnDelete(node)
                    }, annotations: try readAnnotations(child)))
        }
        guard association.ends.count == 2 else {
            let count = association.ends.count == 1 ? "1 end" : "\(association.ends.count) ends"
            warn("The association \(name) was left out: it has \(count) instead of 2.", at: node)
            return nil
        }
        if let constraint = document.child(node, named: .referentialConstraint),
            let principal = document.child(constraint, named: .principal),
            let dependent = document.child(constraint, named: .dependent)
        {
            do throws(CSDLError) {
                association.constraint = Association.Constraint(
                    principalRole: try required(principal, .role, expected: "the role of an end"),
                    principalProperties: try propertyNames(principal),
                    dependentRole: try required(dependent, .role, expected: "the role of an end"),
                    dependentProperties: try propertyNames(dependent))
            } catch {
                try leaveOut(constraint, error)
            }
        }
        return association
    }

    private func propertyNames(_ node: Node) throws(CSDLError) -> [String] {
        var names: [String] = []
        for child in document.children(node, named: .propertyRef) {
            names.append(try required(child, .name, expected: "a property"))
        }
        return names
    }

    /// Reads `NavigationProperty` of CSDL 2 and 3; returns `nil` with a warning if its association is missing.
    mutating func readV2NavigationProperty(
        _ node: Node, _ group: CSDLTargets.Group?
    ) throws(CSDLError) -> NavigationProperty? {
        let name = try required(node, .name, expected: "the property's name")
        let relationship = try qualifiedName(node, .relationship)
        let fromRole = try required(node, .fromRole, expected: "the role of an end")
        let toRole = try required(node, .toRole, expected: "the role of an end")
        let annotations = try readAnnotations(node, group: group, child: document.attributeText(node, .name))
        guard let association = associations[relationship.description] else {
            let isUnreadable = associationNodes[relationship.description] != nil
            warn(
                isUnreadable
                    ? "\(name) was left out with the association \(relationship)."
                    : "\(name) was left out: the document does not declare the association \(relationship).", at: node)
            return nil
        }
        guard let to = association.end(toRole), let from = association.end(fromRole) else {
            warn(
                "\(name) was left out: \(relationship) has no ends with the roles \(fromRole) and \(toRole).", at: node)
            return nil
        }
        let constraint = association.constraint
        return NavigationProperty(
            name: name, target: to.type, isCollection: to.multiplicity == .many, isNullable: to.multiplicity != .one,
            partner: associationProperties[relationship.description]?[toRole]?.name,
            isContainment: flag(node, .containsTarget) ?? false,
            constraints: constraint?.dependentRole == fromRole ? constraint?.pairs ?? [] : [],
            onDelete: from.onDelete,
            relationship: NavigationRelationship(association: relationship, fromRole: fromRole, toRole: toRole),
            annotations: annotations)
    }

    mutating func readAssociationSet(_ node: Node) throws(CSDLError) -> AssociationSet {
        let association = try qualifiedName(node, .association)
        var set = AssociationSet(
            name: document.attribute(node, .name) ?? association.name, association: association, ends: [],
            annotations: try readAnnotations(node))
        for end in document.children(node, named: .end) {
            set.ends.append(
                AssociationSet.End(
                    role: document.attribute(end, .role),
                    entitySet: try required(end, .entitySet, expected: "an entity set"),
                    annotations: try readAnnotations(end)))
        }
        return set
    }

    /// Adds navigation property bindings for the association sets of a container.
    func bindAssociationSets(_ container: inout EntityContainer) {
        guard !container.associationSets.isEmpty else { return }
        let positions = Dictionary(
            container.entitySets.enumerated().map { ($0.element.name, $0.offset) },
            uniquingKeysWith: { first, _ in first })
        var seen: Set<String> = []
        for set in container.associationSets {
            guard let association = associations[set.association.description],
                let properties = associationProperties[set.association.description]
            else { continue }
            var ends: [(role: String, position: Int)] = []
            for end in set.ends {
                guard let position = positions[end.entitySet] else { continue }
                // The role may be omitted if the types distinguish the ends.
                let type = container.entitySets[position].type
                if let role = end.role ?? association.ends.first(where: { $0.type == type })?.role {
                    ends.append((role, position))
                }
            }
            guard ends.count == 2 else { continue }
            for (from, to) in [(ends[0], ends[1]), (ends[1], ends[0])] {
                guard let property = properties[from.role] else { continue }
                let isOwn = isType(container.entitySets[from.position].type, property.type)
                let path = isOwn ? property.name : "\(property.type)/\(property.name)"
                let binding = NavigationPropertyBinding(path: path, target: container.entitySets[to.position].name)
                if seen.insert("\(from.position) \(binding.path) \(binding.target)").inserted {
                    container.entitySets[from.position].bindings.append(binding)
                }
            }
        }
    }

    /// Returns whether a type is another type or derives from it. The documents are searched because the model is
    /// not built yet.
    private func isType(_ name: QualifiedName, _ base: QualifiedName) -> Bool {
        var current = name
        for _ in 0..<CSDLReader.maxDepth {
            if current == base { return true }
            guard let node = resolver.declared[current]?.node, let text = document.attribute(node, .baseType),
                let next = resolver.qualifiedName(text)
            else { return false }
            current = next
        }
        return false
    }
}
