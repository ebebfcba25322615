extension CSDLBuilder {
    /// An association of CSDL 2 and 3: two ends with a multiplicity each, and perhaps a constraint.
    struct Association {
        struct End {
            var role: String
            var type: QualifiedName
            var multiplicity: String
            var onDelete: OnDeleteAction?
        }

        var ends: [End]
        /// The role of the end that holds the foreign key, with its properties and the principal's.
        var dependentRole: String?
        var constraints: [ReferentialConstraint] = []
        /// The navigation properties that use it, by the role they start from.
        var properties: [String: (type: QualifiedName, name: String)] = [:]

        func end(_ role: String) -> End? { ends.first { $0.role == role } }
    }

    mutating func readAssociations(_ schemas: [Node]) throws(CSDLError) {
        for schema in schemas {
            let namespace = document.attribute(schema, .namespace) ?? ""
            for node in document.children(schema, named: .association) {
                let name = try required(node, .name, "the association's name")
                associations["\(namespace).\(name)"] = try readAssociation(node)
            }
        }
        guard !associations.isEmpty else { return }
        // The partner of a navigation property is the one that uses its association the other way round.
        for schema in schemas {
            let namespace = document.attribute(schema, .namespace) ?? ""
            for type in document.children(schema, named: .entityType) {
                guard let typeName = document.attribute(type, .name) else { continue }
                for property in document.children(type, named: .navigationProperty) {
                    guard let relationship = document.attribute(property, .relationship),
                        let role = document.attribute(property, .fromRole),
                        let name = document.attribute(property, .name)
                    else { continue }
                    associations[resolver.fullName(relationship)]?.properties[role] = (
                        QualifiedName(namespace, typeName), name
                    )
                }
            }
        }
    }

    private func readAssociation(_ node: Node) throws(CSDLError) -> Association {
        var association = Association(ends: [])
        for child in document.children(node, named: .end) {
            let type = try qualifiedName(child, .type)
            var onDelete: OnDeleteAction?
            if let node = document.children(child, named: .onDelete).first { onDelete = try readOnDelete(node) }
            association.ends.append(
                Association.End(
                    role: document.attribute(child, .role) ?? type.name, type: type,
                    multiplicity: document.attribute(child, .multiplicity) ?? "*",
                    onDelete: onDelete))
        }
        guard association.ends.count == 2 else {
            throw document.error(
                .missingAttribute("End", element: "Association"), at: node, expected: "two ends")
        }
        if let constraint = document.children(node, named: .referentialConstraint).first,
            let principal = document.children(constraint, named: .principal).first,
            let dependent = document.children(constraint, named: .dependent).first
        {
            association.dependentRole = try required(dependent, .role, "the role of an end")
            let own = document.children(dependent, named: .propertyRef)
            let referenced = document.children(principal, named: .propertyRef)
            for (own, referenced) in zip(own, referenced) {
                association.constraints.append(
                    ReferentialConstraint(
                        property: try required(own, .name, "a property"),
                        referencedProperty: try required(referenced, .name, "a property")))
            }
        }
        return association
    }

    /// `NavigationProperty` of CSDL 2 and 3; `nil` with a warning when its association is not there.
    mutating func readV2NavigationProperty(_ node: Node, of owner: String) throws(CSDLError) -> NavigationProperty? {
        let name = try required(node, .name, "the property's name")
        let relationship = resolver.fullName(try required(node, .relationship, "an association"))
        let fromRole = try required(node, .fromRole, "the role of an end")
        let toRole = try required(node, .toRole, "the role of an end")
        let annotations = try readAnnotations(node, target: owner, child: name)
        guard let association = associations[relationship] else {
            warn("\(name) was left out: the document does not declare the association \(relationship).", at: node)
            return nil
        }
        guard let to = association.end(toRole), let from = association.end(fromRole) else {
            throw document.error(
                .invalidAttribute("ToRole", element: "NavigationProperty", value: toRole), at: node,
                expected: "the roles of the two ends of \(relationship)")
        }
        return NavigationProperty(
            name: name, target: to.type, isCollection: to.multiplicity == "*", isNullable: to.multiplicity != "1",
            partner: association.properties[toRole]?.name, isContainment: flag(node, .containsTarget) ?? false,
            constraints: association.dependentRole == fromRole ? association.constraints : [],
            onDelete: from.onDelete, annotations: annotations)
    }

    /// Makes navigation property bindings from the association sets of a container.
    func bindAssociationSets(_ node: Node, _ container: inout EntityContainer) throws(CSDLError) {
        for set in document.children(node, named: .associationSet) {
            guard let association = associations[resolver.fullName(try required(set, .association, "an association"))]
            else { continue }
            var ends: [(role: String, set: String)] = []
            for end in document.children(set, named: .end) {
                let name = try required(end, .entitySet, "an entity set")
                // The role may be left out where the types tell the ends apart.
                let type = container.entitySets.first { $0.name == name }?.type
                let role = document.attribute(end, .role) ?? association.ends.first { $0.type == type }?.role
                if let role { ends.append((role, name)) }
            }
            guard ends.count == 2 else { continue }
            for (from, to) in [(ends[0], ends[1]), (ends[1], ends[0])] {
                guard let property = association.properties[from.role],
                    let index = container.entitySets.firstIndex(where: { $0.name == from.set })
                else { continue }
                let isOwn = isType(container.entitySets[index].type, property.type)
                let path = isOwn ? property.name : "\(property.type)/\(property.name)"
                let binding = NavigationPropertyBinding(path: path, target: to.set)
                if !container.entitySets[index].bindings.contains(binding) {
                    container.entitySets[index].bindings.append(binding)
                }
            }
        }
    }

    /// Whether a type is another or derives from it, by the document alone: the model is not built yet.
    private func isType(_ name: QualifiedName, _ base: QualifiedName) -> Bool {
        var current = name.description
        for _ in 0..<CSDLReader.maxDepth {
            if current == base.description { return true }
            guard let node = declarations[current], let next = document.attribute(node, .baseType) else { return false }
            current = resolver.fullName(next)
        }
        return false
    }
}
