import ODataModel
import ODataQuery
import ODataSQL

/// What becomes of the `$expand` of a defining query.
///
/// A navigation property that a foreign key stands behind, and whose way back is known, is *split*: a query of its own
/// reads the related entities, so that both have delta links. Anything else is read *whole* with its parents, and
/// compared.
struct ExpandParts {
    /// A navigation property that a query of its own reads.
    struct Split: Hashable {
        var navigation: String
        var entitySet: String
        var text: String
    }

    /// What is read with queries of their own.
    private(set) var splits: [Split] = []
    /// What is read with the parents.
    private(set) var wholes: [String] = []

    /// - Parameter whole: navigation properties that the service was found not to filter by.
    /// - Throws: ``OfflineError/invalidDefiningQuery(name:reason:)`` for what cannot be kept offline.
    init(of query: String, _ url: ODataURL, entitySet: String, mapping: StorageMapping, whole: Set<String> = []) throws
    {
        guard let table = mapping.tables[entitySet] else { return }
        for item in url.options.expand {
            guard item.form == .entities, item.options.levels == nil,
                let navigation = item.navigation(of: table, mapping.model),
                let storage = table.navigation[navigation.name]
            else {
                throw OfflineError.invalidDefiningQuery(
                    name: query,
                    reason: "$expand=\(item.path.map(\.text).joined(separator: "/")) cannot be kept offline.")
            }
            let options = item.options
            let isPlain = options.top == nil && options.skip == nil && options.search == nil && options.apply.isEmpty
            guard isPlain else {
                throw OfflineError.invalidDefiningQuery(
                    name: query, reason: "only $filter, $select and $expand are possible within $expand.")
            }
            if !whole.contains(navigation.name),
                let split = Self.split(item, navigation, storage, url, table, mapping)
            {
                splits.append(split)
                continue
            }
            if let target = mapping.tables[storage.target] {
                try Self.checkWhole(options.expand, of: target, mapping, query)
            }
            wholes.append(navigation.name)
        }
    }

    /// Checks what is expanded in something that is read whole, at whatever depth.
    private static func checkWhole(
        _ items: [ExpandItem], of table: TableStorage, _ mapping: StorageMapping, _ query: String
    ) throws {
        for item in items {
            let options = item.options
            guard item.form == .entities, options.levels == nil,
                let storage = item.navigation(of: table, mapping.model).flatMap({ table.navigation[$0.name] })
            else {
                throw OfflineError.invalidDefiningQuery(
                    name: query,
                    reason: "$expand=\(item.path.map(\.text).joined(separator: "/")) cannot be kept offline.")
            }
            guard options.top == nil, options.skip == nil, options.search == nil, options.apply.isEmpty else {
                throw OfflineError.invalidDefiningQuery(
                    name: query, reason: "only $filter, $select and $expand are possible within $expand.")
            }
            if let target = mapping.tables[storage.target] {
                try checkWhole(options.expand, of: target, mapping, query)
            }
        }
    }

    /// The query for the related entities; `nil` where there is none.
    private static func split(
        _ item: ExpandItem, _ navigation: NavigationProperty, _ storage: NavigationStorage, _ url: ODataURL,
        _ table: TableStorage, _ mapping: StorageMapping
    ) -> Split? {
        guard !navigation.isContainment, item.path.count == 1, case .join(let target, _) = storage,
            mapping.model.entitySet(target) != nil, let other = mapping.tables[target],
            // Of a part of the parents, no condition on the related says which.
            url.options.search == nil, url.options.top == nil, url.options.skip == nil,
            let partner = mapping.opposites(of: navigation, of: table).first
        else { return nil }
        let condition: Expression?
        do throws(NoCondition) {
            condition = try Self.condition(partner, url.options.filter, other)
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

    /// That no condition on the related entities says the same.
    private struct NoCondition: Error {}

    /// The condition for the entities that one of the parents leads to; `nil` where all are.
    private static func condition(
        _ partner: NavigationProperty, _ filter: Expression?, _ other: TableStorage
    ) throws(NoCondition) -> Expression? {
        let name = Identifier(partner.name)
        if partner.isCollection {
            // Of one to many: those that one of the parents leads to.
            let variable = Identifier("parent")
            var predicate: Expression?
            if let filter { predicate = try prefixed(filter, [.name(variable)], within: []) }
            return .path([.name(name), .any(variable: variable, predicate: predicate)])
        }
        if let filter { return try prefixed(filter, [.name(name)], within: []) }
        guard let constraint = partner.constraints.first,
            other.shape.property(constraint.property)?.isNullable == true
        else { return nil }
        return .binary(.notEqual, .path([.name(Identifier(constraint.property))]), .literal(Literal(.null)))
    }

    /// A condition on the parent as one on the related entity: every path that starts from the instance goes through
    /// the way back first.
    private static func prefixed(
        _ expression: Expression, _ prefix: [PathStep], within variables: Set<String>
    ) throws(NoCondition) -> Expression {
        func again(_ expression: Expression) throws(NoCondition) -> Expression {
            try prefixed(expression, prefix, within: variables)
        }
        func all(_ expressions: [Expression]) throws(NoCondition) -> [Expression] {
            var result: [Expression] = []
            for expression in expressions { result.append(try again(expression)) }
            return result
        }
        switch expression {
        case .path(let steps):
            var steps = steps
            for (index, step) in steps.enumerated() {
                steps[index] = try prefixed(step, prefix, within: variables)
            }
            switch steps.first {
            case .name(let name)? where variables.contains(name.text): return .path(steps)
            case .variable(let name)? where name.text == "$it": steps.removeFirst()
            case .variable?: return .path(steps)
            default: break
            }
            return .path(prefix + steps)
        case .unary(let op, let operand): return .unary(op, try again(operand))
        case .binary(let op, let left, let right): return .binary(op, try again(left), try again(right))
        case .membership(let operand, let list): return .membership(try again(operand), in: try again(list))
        case .call(let name, let arguments): return .call(name, try all(arguments))
        case .list(let members): return .list(try all(members))
        case .typeTest(let test, let operand, let type):
            // Without an operand it is about the instance itself.
            guard let operand else { return .typeTest(test, .path(prefix), type) }
            return .typeTest(test, try again(operand), type)
        case .literal, .alias: return expression
        // What a function of the service makes of the parent, only the parent can be asked for.
        case .namedCall, .json: throw NoCondition()
        }
    }

    /// The same of what is within a step of a path.
    private static func prefixed(
        _ step: PathStep, _ prefix: [PathStep], within variables: Set<String>
    ) throws(NoCondition) -> PathStep {
        switch step {
        case .any(let variable, let predicate):
            guard let predicate else { return step }
            let known = variables.union([variable?.text].compactMap { $0 })
            return .any(variable: variable, predicate: try prefixed(predicate, prefix, within: known))
        case .all(let variable, let predicate):
            return .all(
                variable: variable,
                predicate: try prefixed(predicate, prefix, within: variables.union([variable.text])))
        case .call, .aggregate: throw NoCondition()
        default: return step
        }
    }
}

extension ExpandItem {
    /// The navigation property of a table's type, or of the derived type that is named before it.
    fileprivate func navigation(of table: TableStorage, _ model: EntityDataModel) -> NavigationProperty? {
        guard let relation else { return nil }
        guard let cast = path.dropLast().last?.text else { return table.shape.navigationProperty(relation) }
        return QualifiedName(cast).flatMap { model.shape($0) }?.navigationProperty(relation)
    }
}
