import ODataModel
import ODataSQL

/// Foreign keys as navigation properties, in both directions.
///
/// The names for a foreign key from table D to table P:
///
/// 1. The property of D is named after the type of P if this is the only foreign key from D to another table P
///    (`Order.Customer`). Otherwise, it is named after its column without `ID` or `_id` at the end (`ShipTo`).
///    If the column has no such ending, or there are several columns, the columns are followed by the type of P
///    (`ReportsToEmployee`).
/// 2. The property of P is named after the set of D (`Customer.Orders`), or after its type if the columns are
///    unique in D. If there are several foreign keys from D to P, an underscore and the name by rule 1 follow
///    (`Orders_ShipTo`).
/// 3. If a column or an earlier navigation property has the same name, `_2`, `_3` and so on are appended.
extension ForeignModelBuilder {
    mutating func addNavigation() {
        for dependent in drafts.indices where !drafts[dependent].table.isView {
            for key in drafts[dependent].table.foreignKeys {
                if let refusal = add(key, of: dependent) {
                    let columns = key.columns.joined(separator: ", ")
                    warn("The foreign key \(drafts[dependent].table.name).\(columns) is not served: \(refusal).")
                }
            }
        }
    }

    /// Adds a foreign key; otherwise, returns the reason for which it cannot be served.
    private mutating func add(_ key: ForeignSchema.ForeignKey, of dependent: Int) -> String? {
        let folded = ForeignSchema.folded(key.table)
        guard let principal = drafts.firstIndex(where: { ForeignSchema.folded($0.table.name) == folded }),
            drafts[principal].role == .entitySet, !drafts[principal].table.isView
        else { return "there is no table \(key.table)" }
        guard !key.columns.isEmpty, key.columns.count == key.referencedColumns.count else {
            return "it does not fit the primary key of \(key.table)"
        }
        var pairs: [NavigationStorage.ColumnPair] = []
        var pairsBack: [NavigationStorage.ColumnPair] = []
        var constraints: [ReferentialConstraint] = []
        var isNullable = false
        for (column, referenced) in zip(key.columns, key.referencedColumns) {
            guard let from = drafts[dependent].member(column), let to = drafts[principal].member(referenced) else {
                return "one of its columns is not served"
            }
            guard from.property.type == to.property.type else {
                return "\(column) is served as \(from.property.type), \(referenced) as \(to.property.type)"
            }
            pairs.append(Self.pair(from.storage, to.storage))
            pairsBack.append(Self.pair(to.storage, from.storage))
            constraints.append(
                ReferentialConstraint(property: from.property.name, referencedProperty: to.property.name))
            if from.property.isNullable { isNullable = true }
        }
        if !drafts[principal].table.isUnique(key.referencedColumns) {
            warn(
                """
                The foreign key \(drafts[dependent].table.name).\(key.columns.joined(separator: ", ")) refers to \
                columns of \(key.table) that are not unique; SQLite refuses changes to both tables.
                """)
        }
        let isSelf = dependent == principal
        let count = drafts[dependent].table.foreignKeys.filter { ForeignSchema.folded($0.table) == folded }.count
        let isOneToOne = drafts[dependent].table.isUnique(key.columns)
        let wish = isSelf || count > 1 ? columnName(constraints.map(\.property), principal) : drafts[principal].type
        let forward = drafts[dependent].names.distinct(wish)
        let base = isOneToOne ? drafts[dependent].type : drafts[dependent].set
        let backward = drafts[principal].names.distinct(count > 1 ? "\(base)_\(forward)" : base)
        let namespace = options.namespace
        drafts[dependent].navigation.append(
            NavigationProperty(
                name: forward, target: QualifiedName(namespace, drafts[principal].type), isCollection: false,
                isNullable: isNullable, partner: backward, constraints: constraints))
        drafts[dependent].navigationStorage[forward] = .join(target: drafts[principal].set, pairs: pairs)
        drafts[dependent].bindings.append(.init(path: forward, target: drafts[principal].set))
        drafts[principal].navigation.append(
            NavigationProperty(
                name: backward, target: QualifiedName(namespace, drafts[dependent].type), isCollection: !isOneToOne,
                partner: forward, onDelete: Self.action(key.onDelete)))
        drafts[principal].navigationStorage[backward] = .join(
            target: drafts[dependent].set, pairs: pairsBack)
        drafts[principal].bindings.append(.init(path: backward, target: drafts[dependent].set))
        return nil
    }

    /// Returns the pair of columns that are equal in related rows, compared as the values that clients see.
    private static func pair(_ source: ColumnStorage, _ target: ColumnStorage) -> NavigationStorage.ColumnPair {
        var pair = NavigationStorage.ColumnPair(source: source.name, target: target.name)
        if source.codec.isAnyText || target.codec.isAnyText {
            pair.comparison = .text
        } else if target.codec == .string, !target.comparesBytes {
            pair.comparison = .bytes
        }
        return pair
    }

    /// Returns a name made of the referencing columns.
    private func columnName(_ properties: [String], _ principal: Int) -> String {
        let type = drafts[principal].type
        guard properties.count == 1, let name = properties.first else { return properties.joined() + type }
        for ending in ["_id", "_ID", "_Id", "Id", "ID"] where name.hasSuffix(ending) && name.count > ending.count {
            return String(name.dropLast(ending.count))
        }
        return name + type
    }

    private static func action(_ text: String) -> OnDeleteAction {
        switch text.uppercased() {
        case "CASCADE": .cascade
        case "SET NULL": .setNull
        case "SET DEFAULT": .setDefault
        default: .none
        }
    }
}
