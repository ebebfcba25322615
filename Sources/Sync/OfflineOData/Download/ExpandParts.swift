import ODataModel
import ODataQuery
import ODataSQL

/// The treatment of `$expand` in a defining query.
///
/// A navigation property with a foreign key and a known partner is *split*: a separate query reads the related
/// entities, so that both have delta links. All other properties are read *whole* with their parents, and
/// compared.
struct ExpandParts {
    /// A navigation property that is read by a separate query.
    struct Split: Hashable {
        var navigation: String
        var entitySet: String
        var text: String
    }

    /// The navigation properties that are read by separate queries.
    private(set) var splits: [Split] = []
    /// The navigation properties that are read with the parents.
    private(set) var wholes: [String] = []

    /// - Parameter whole: navigation properties by which the service was found not to filter.
    /// - Throws: ``OfflineError/invalidDefiningQuery(name:reason:)`` for a query that cannot be kept offline.
    init(of query: String, _ url: ODataURL, entitySet: String, mapping: StorageMapping, whole: Set<String> = []) throws
    {
        guard let table = mapping.tables[entitySet] else { return }
        for item in url.options.expand {
            let (navigation, storage) = try Self.keepable(item, of: table, mapping: mapping, query: query)
            if !whole.contains(navigation.name),
                let split = Self.split(item, navigation, storage: storage, url: url, table: table, mapping: mapping)
            {
                splits.append(split)
                continue
            }
            if let target = mapping.tables[storage.target] {
                try Self.checkWhole(item.options.expand, of: target, mapping: mapping, query: query)
            }
            wholes.append(navigation.name)
        }
    }

    /// Returns the navigation property of an item of `$expand`.
    ///
    /// - Throws: ``OfflineError/invalidDefiningQuery(name:reason:)`` for an item that cannot be kept offline.
    private static func keepable(
        _ item: ExpandItem, of table: TableStorage, mapping: StorageMapping, query: String
    ) throws -> (NavigationProperty, NavigationStorage) {
        let options = item.options
        guard item.form == .entities, options.levels == nil,
            let navigation = item.navigation(of: table, mapping.model),
            let storage = table.navigation[navigation.name]
        else {
            throw OfflineError.invalidDefiningQuery(
                name: query,
                reason: "$expand=\(item.path.map(\.text).joined(separator: "/")) cannot be kept offline.")
        }
        guard options.top == nil, options.skip == nil, options.search == nil, options.apply.isEmpty else {
            throw OfflineError.invalidDefiningQuery(
                name: query, reason: "only $filter, $select and $expand are possible within $expand.")
        }
        return (navigation, storage)
    }

    /// Checks the nested `$expand` of a property that is read whole, at any depth.
    private static func checkWhole(
        _ items: [ExpandItem], of table: TableStorage, mapping: StorageMapping, query: String
    ) throws {
        for item in items {
            let (_, storage) = try keepable(item, of: table, mapping: mapping, query: query)
            if let target = mapping.tables[storage.target] {
                try checkWhole(item.options.expand, of: target, mapping: mapping, query: query)
            }
        }
    }

    /// The query for the related entities; `nil` if there is none.
    private static func split(
        _ item: ExpandItem, _ navigation: NavigationProperty, storage: NavigationStorage, url: ODataURL,
        table: TableStorage, mapping: StorageMapping
    ) -> Split? {
        guard !navigation.isContainment, item.path.count == 1, case .join(let target, _) = storage,
            mapping.model.entitySet(target) != nil, let other = mapping.tables[target],
            // For a page of the parents, no condition can select the related entities.
            url.options.search == nil, url.options.top == nil, url.options.skip == nil,
            let partner = mapping.opposites(of: navigation, of: table).first
        else { return nil }
        let condition: CommonExpression?
        do throws(NoCondition) {
            condition = try Self.condition(partner, url.options.filter, other: other)
        } catch {
            return nil
        }
        var part = ODataURL(path: ResourcePath([.name(Identifier(target), .none)]))
        part.options = item.options
        part.options.aliases.merge(url.options.aliases) { own, _ in own }
        if let condition {
            part.options.filter = item.options.filter.map { .binary(.and, condition, $0) } ?? condition
        }
        return Split(navigation: navigation.name, entitySet: target, text: part.description)
    }

    /// No condition on the related entities expresses the same.
    private struct NoCondition: Error {}

    /// The condition for the entities that one of the parents leads to; `nil` if that is all entities.
    private static func condition(
        _ partner: NavigationProperty, _ filter: CommonExpression?, other: TableStorage
    ) throws(NoCondition) -> CommonExpression? {
        let name = Identifier(partner.name)
        if partner.isCollection {
            // In a one-to-many relation: the entities that one of the parents leads to.
            let variable = Identifier("parent")
            var predicate: CommonExpression?
            if let filter { predicate = try prefixed(filter, [.name(variable)], within: []) }
            return .path([.name(name), .any(variable: variable, predicate: predicate)])
        }
        if let filter { return try prefixed(filter, [.name(name)], within: []) }
        guard let constraint = partner.constraints.first,
            other.shape.property(constraint.property)?.isNullable == true
        else { return nil }
        return .binary(.notEqual, .path([.name(Identifier(constraint.property))]), .literal(Literal(.null)))
    }

    /// Translates a condition on the parent into one on the related entity: every path that starts at the
    /// instance begins with the partner property.
    private static func prefixed(
        _ expression: CommonExpression, _ prefix: [PathStep], within variables: Set<String>
    ) throws(NoCondition) -> CommonExpression {
        switch expression {
        case .path(let steps):
            var steps = try steps.map { step throws(NoCondition) in
                try prefixed(step, prefix, within: variables)
            }
            switch steps.first {
            case .name(let name)? where variables.contains(name.text): return .path(steps)
            case .variable(let name)? where name.text == "$it": steps.removeFirst()
            case .variable?: return .path(steps)
            default: break
            }
            return .path(prefix + steps)
        // Without an operand, it tests the instance itself.
        case .typeTest(let test, nil, let type): return .typeTest(test, .path(prefix), type)
        // The result of a service function for the parent is known only for the parent.
        case .namedCall, .json: throw NoCondition()
        case .literal, .alias, .unary, .binary, .membership, .call, .list, .typeTest:
            return try expression.mapChildren { child throws(NoCondition) in
                try prefixed(child, prefix, within: variables)
            }
        }
    }

    /// Translates the expressions within a step of a path.
    private static func prefixed(
        _ step: PathStep, _ prefix: [PathStep], within variables: Set<String>
    ) throws(NoCondition) -> PathStep {
        switch step {
        case .any(let variable?, _), .all(let variable, _):
            return try step.mapChildren { predicate throws(NoCondition) in
                try prefixed(predicate, prefix, within: variables.union([variable.text]))
            }
        case .call, .aggregate: throw NoCondition()
        // Their paths start at the members of the collection before them, except for those that start at the
        // parent itself.
        case .count, .filter, .key:
            if step.namesInstance { throw NoCondition() }
            return step
        case .name, .variable, .any(nil, _):
            return try step.mapChildren { child throws(NoCondition) in
                try prefixed(child, prefix, within: variables)
            }
        }
    }
}

extension PathStep {
    /// Whether an expression within the step uses `$it`.
    fileprivate var namesInstance: Bool {
        descendants.contains { expression in
            if case .path(let steps) = expression, case .variable("$it")? = steps.first { true } else { false }
        }
    }
}

extension ExpandItem {
    /// The navigation property of a table's type, or of the derived type named before it.
    fileprivate func navigation(of table: TableStorage, _ model: EntityDataModel) -> NavigationProperty? {
        guard let relation else { return nil }
        guard let cast = path.dropLast().last?.text else { return table.shape.navigationProperty(relation) }
        return QualifiedName(cast).flatMap { model.shape($0) }?.navigationProperty(relation)
    }
}
