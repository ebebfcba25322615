/// The associations and association sets that V2 and V3 need for navigation properties of a V4 model.
struct GeneratedAssociations {
    /// A navigation property by the type that declares it.
    struct Path: Hashable {
        var type: QualifiedName
        var property: String
    }

    private(set) var bySchema: [String: [Association]] = [:]
    private(set) var sets: [AssociationSet] = []
    private(set) var relationships: [Path: NavigationRelationship] = [:]

    init() {}

    /// Creates the associations that the model lacks, and adds navigation properties that V2 and V3 do not support
    /// to `omissions`.
    init(_ model: EntityDataModel, _ omissions: inout [String]) {
        var names = Set(model.schemas.flatMap { $0.associations.map(\.name.description) })
        for schema in model.schemas {
            for type in schema.structuredTypes {
                for property in type.navigationProperties where property.relationship == nil {
                    let path = Path(type: type.name, property: property.name)
                    guard relationships[path] == nil else { continue }
                    guard type.kind == .entity, model.structuredType(property.target) != nil,
                        model.hasKeyBeforeV4(type.name), model.hasKeyBeforeV4(property.target)
                    else {
                        omissions.append("The navigation property \(type.name)/\(property.name) needs OData 4.")
                        continue
                    }
                    var name = "\(type.name.name)_\(property.name)"
                    while !names.insert("\(schema.namespace).\(name)").inserted { name += "_" }
                    add(QualifiedName(schema.namespace, name), property, path: path, model: model)
                }
            }
        }
        addSets(model)
    }

    private mutating func add(
        _ name: QualifiedName, _ property: NavigationProperty, path: Path, model: EntityDataModel
    ) {
        let partner = property.partner.flatMap { name in
            model.shape(property.target)?.navigationProperty(name)
        }.flatMap { $0.partner == property.name && model.isType(path.type, $0.target) ? $0 : nil }
        let fromRole = "\(path.type.name)_\(property.name)"
        let toRole = partner.map { "\(property.target.name)_\($0.name)" } ?? "\(property.target.name)"
        let roles = NavigationRelationship(
            association: name, fromRole: fromRole, toRole: toRole == fromRole ? toRole + "_To" : toRole)
        relationships[path] = roles
        if let partner, let owner = declaringType(of: partner.name, from: property.target, model) {
            relationships[Path(type: owner, property: partner.name)] = NavigationRelationship(
                association: name, fromRole: roles.toRole, toRole: roles.fromRole)
        }
        var constraint: Association.Constraint?
        if !property.constraints.isEmpty {
            constraint = Self.constraint(property.constraints, dependent: roles.fromRole, principal: roles.toRole)
        } else if let constraints = partner?.constraints, !constraints.isEmpty {
            constraint = Self.constraint(constraints, dependent: roles.toRole, principal: roles.fromRole)
        }
        // Without a partner property, the multiplicity of the other end is unknown.
        let association = Association(
            name: name,
            ends: [
                Association.End(
                    role: roles.fromRole, type: path.type, multiplicity: partner.map(Self.multiplicity) ?? .many,
                    onDelete: property.onDelete),
                Association.End(
                    role: roles.toRole, type: property.target, multiplicity: Self.multiplicity(property),
                    onDelete: partner?.onDelete),
            ], constraint: constraint)
        bySchema[name.namespace, default: []].append(association)
    }

    private static func multiplicity(_ property: NavigationProperty) -> Multiplicity {
        property.isCollection ? .many : property.isNullable ? .zeroOrOne : .one
    }

    private static func constraint(
        _ pairs: [ReferentialConstraint], dependent: String, principal: String
    ) -> Association.Constraint {
        Association.Constraint(
            principalRole: principal, principalProperties: pairs.map(\.referencedProperty), dependentRole: dependent,
            dependentProperties: pairs.map(\.property))
    }

    private func declaringType(
        of property: String, from type: QualifiedName, _ model: EntityDataModel
    ) -> QualifiedName? {
        var current: QualifiedName? = type
        while let name = current, let declared = model.structuredType(name) {
            if declared.navigationProperties.contains(where: { $0.name == property }) { return name }
            current = declared.baseType
        }
        return nil
    }

    private mutating func addSets(_ model: EntityDataModel) {
        var seen: Set<[String]> = []
        for set in model.container.entitySets where model.hasKeyBeforeV4(set.type) {
            for binding in set.bindings {
                let segments = binding.path.parts(between: "/").map(String.init)
                guard let property = segments.last, segments.count <= 2,
                    let targetSet = model.entitySet(binding.target), model.hasKeyBeforeV4(targetSet.type)
                else { continue }
                let start = segments.count == 2 ? QualifiedName(segments[0]) : set.type
                guard let start, let owner = declaringType(of: property, from: start, model),
                    let relationship = relationships[Path(type: owner, property: property)]
                else { continue }
                // The opposite direction uses the same association set.
                let ends = [(relationship.fromRole, set.name), (relationship.toRole, targetSet.name)].sorted {
                    $0.0 < $1.0
                }
                let key = [relationship.association.description] + ends.map { "\($0.0)=\($0.1)" }
                guard seen.insert(key).inserted else { continue }
                sets.append(
                    AssociationSet(
                        name: "\(set.name)_\(property)", association: relationship.association,
                        ends: ends.map { AssociationSet.End(role: $0.0, entitySet: $0.1) }))
            }
        }
    }
}
