import ODataModel

/// Foreign keys as navigation properties, both ways, with names that tell where they lead.
extension ForeignModelBuilder {
    /// A foreign key whose two ends are entity sets.
    private struct Relation {
        var dependent: Int
        var principal: Int
        var columns: [String]
        var referenced: [String]
        var onDelete: String
    }

    /// Adds the navigation properties of all foreign keys. Tables that only join two others stay sets.
    mutating func relate() {
        let relations = findRelations()
        for relation in relations { add(relation, among: relations) }
    }

    private mutating func findRelations() -> [Relation] {
        var relations: [Relation] = []
        for (index, draft) in drafts.enumerated() where draft.isSet {
            for key in draft.table.foreignKeys {
                let place = key.columns.joined(separator: ", ")
                guard
                    let principal = drafts.firstIndex(where: {
                        $0.isSet && $0.table.name.lowercased() == key.table.lowercased()
                    })
                else {
                    warn(draft.table.name, place, "refers to the table \(key.table), which is not there")
                    continue
                }
                let target = drafts[principal]
                let referenced = key.referencedColumns.isEmpty ? target.table.primaryKey : key.referencedColumns
                guard referenced.count == key.columns.count,
                    key.columns.allSatisfy({ draft.property(ofColumn: $0) != nil }),
                    referenced.allSatisfy({ target.property(ofColumn: $0) != nil })
                else {
                    warn(draft.table.name, place, "refers to columns of \(key.table) that are not there")
                    continue
                }
                relations.append(
                    Relation(
                        dependent: index, principal: principal, columns: key.columns, referenced: referenced,
                        onDelete: key.onDelete))
            }
        }
        return relations
    }

    private mutating func add(_ relation: Relation, among relations: [Relation]) {
        let isSelf = relation.dependent == relation.principal
        let siblings = relations.filter {
            $0.dependent == relation.dependent && $0.principal == relation.principal
        }
        let forward = forwardName(relation, isOnly: siblings.count == 1)
        drafts[relation.dependent].names.reserve(forward)
        let dependent = drafts[relation.dependent]
        let principal = drafts[relation.principal]
        let isOne = dependent.table.uniqueKeys.contains { key in
            Set(key.map { $0.lowercased() }) == Set(relation.columns.map { $0.lowercased() })
        }
        let wish = isOne && !isSelf ? dependent.type.name.name : dependent.set
        let reverse = drafts[relation.principal].names.name(
            siblings.count == 1 && !isSelf ? wish : "\(wish)_\(LegalName.identifier(relation.columns[0]))")
        let pairs = zip(relation.columns, relation.referenced).map {
            NavigationStorage.ColumnPair(source: $0, target: $1)
        }
        let constraints = zip(relation.columns, relation.referenced).compactMap { column, referenced in
            dependent.property(ofColumn: column).flatMap { left in
                principal.property(ofColumn: referenced).map {
                    ReferentialConstraint(property: left.name, referencedProperty: $0.name)
                }
            }
        }
        let isNullable = constraints.contains { constraint in
            dependent.type.properties.first { $0.name == constraint.property }?.isNullable ?? true
        }
        drafts[relation.dependent].type.navigationProperties.append(
            NavigationProperty(
                name: forward, target: principal.type.name, isCollection: false, isNullable: isNullable,
                partner: reverse, constraints: constraints))
        drafts[relation.dependent].navigation[forward] = .join(target: principal.set, pairs: pairs)
        drafts[relation.dependent].bindings.append(.init(path: forward, target: principal.set))
        drafts[relation.principal].type.navigationProperties.append(
            NavigationProperty(
                name: reverse, target: dependent.type.name, isCollection: !isOne, partner: forward,
                onDelete: Self.action(relation.onDelete)))
        drafts[relation.principal].navigation[reverse] = .join(
            target: dependent.set, pairs: pairs.map { .init(source: $0.target, target: $0.source) })
        drafts[relation.principal].bindings.append(.init(path: reverse, target: dependent.set))
    }

    /// `CustomerID` leads to `Customer`; `ShipVia` to `Shipper`, the type; `ReportsTo` among employees to
    /// `ReportsToEmployee`.
    private mutating func forwardName(_ relation: Relation, isOnly: Bool) -> String {
        let draft = drafts[relation.dependent]
        let target = drafts[relation.principal].type.name.name
        var wishes: [String] = []
        let column = LegalName.identifier(relation.columns[0])
        if relation.columns.count == 1, let stem = LegalName.withoutIdentifierSuffix(column) { wishes.append(stem) }
        if isOnly, relation.dependent != relation.principal { wishes.append(target) }
        wishes.append(relation.columns.count == 1 ? column + target : target)
        let free = wishes.first { !draft.names.contains($0) }
        return free ?? drafts[relation.dependent].names.name("\(column)_\(target)")
    }

    private static func action(_ text: String) -> OnDeleteAction? {
        switch text.uppercased() {
        case "CASCADE": .cascade
        case "SET NULL": .setNull
        case "SET DEFAULT": .setDefault
        case "RESTRICT": OnDeleteAction.none
        default: nil
        }
    }
}
