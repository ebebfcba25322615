import ODataModel

/// Evaluation of `aggregate` (OData Data Aggregation 4.0, 3.2.1). Null values are ignored.
extension Evaluator {
    func aggregated(
        _ items: [BoundAggregate], _ rows: [EvaluatedRow], shape: TypeShape, in outer: Environment
    ) throws -> EvaluatedRow {
        var result = EvaluatedRow(type: shape.name)
        for item in items { result.values[item.name] = try aggregate(item, rows, in: outer) }
        return result
    }

    private func aggregate(
        _ item: BoundAggregate, _ rows: [EvaluatedRow], in outer: Environment
    ) throws -> ODataValue {
        guard !item.from.isEmpty else { return try aggregate(item, over: rows.map { outer.with($0) }) }
        // a with m1 from P1 with m2 from P2 with m3: m1 applies to groups by P1 and P2, m2 to groups by P2. m3
        // applies to the rest.
        return try aggregate(item, level: item.from.count, rows, in: outer)
    }

    /// Evaluates an aggregate with a number of `from` steps.
    private func aggregate(
        _ item: BoundAggregate, level: Int, _ rows: [EvaluatedRow], in outer: Environment
    ) throws -> ODataValue {
        guard level > 0 else { return try aggregate(item, over: rows.map { outer.with($0) }) }
        let step = item.from[level - 1]
        let values = try groups(of: rows, by: step.paths, in: outer).map { group in
            try aggregate(item, level: level - 1, group.rows, in: outer)
        }
        return try aggregate(values, by: step.method, step.function)
    }

    /// Evaluates an aggregate over the instances of environments.
    func aggregate(_ item: BoundAggregate, over environments: [Environment]) throws -> ODataValue {
        var expanded = environments
        if let members = item.members {
            // An entity counts once, even if several rows lead to it (3.2.1.1). Values may repeat.
            var seen: Set<GroupKey> = []
            expanded = try environments.flatMap { environment in
                try self.members(of: members.path, in: environment).filter { member in
                    guard case .row(let row?) = member, row.key != nil else { return true }
                    var key = GroupKey()
                    key.append(row)
                    return seen.insert(key).inserted
                }.map { environment.with($0, as: members.variable.identifier) }
            }
        }
        if let owner = item.owner { expanded = try once(for: owner, expanded) }
        guard let expression = item.expression else { return Self.count(expanded.count) }
        if item.method == .countDistinct, case .path(let path) = expression {
            // Instances are distinguished by their identity.
            var seen: Set<GroupKey> = []
            for environment in expanded {
                var key = GroupKey()
                switch try operand(path, in: environment) {
                case .row(let row?): key.append(row)
                case .value(let value) where !value.isNull: key.append(value)
                default: continue
                }
                seen.insert(key)
            }
            return Self.count(seen.count)
        }
        return try aggregate(
            expanded.map { try value(expression, in: $0) }, by: item.method, item.function)
    }

    /// Returns a number of instances, which is a decimal (OData Data Aggregation 4.0, 3.2.1.4).
    private static func count(_ number: Int) -> ODataValue { .decimal(ODataDecimal(Int64(number))) }

    /// Returns the first environment for each entity (3.2.1.1).
    private func once(for owner: BoundPath, _ environments: [Environment]) throws -> [Environment] {
        var seen: Set<GroupKey> = []
        return try environments.filter { environment in
            guard case .row(let row?) = try operand(owner, in: environment), row.key != nil else { return true }
            var key = GroupKey()
            key.append(row)
            return seen.insert(key).inserted
        }
    }

    func aggregate(
        _ values: [ODataValue], by method: BoundAggregate.Method, _ function: AggregateFunction?
    ) throws -> ODataValue {
        let known = values.filter { !$0.isNull }
        switch method {
        case .count: return Self.count(values.count)
        case .countDistinct: return Self.count(Set(known.map { GroupKey([$0]) }).count)
        case .min:
            return known.dropFirst().reduce(known.first) { best, next in
                best.map { ValueOrder.precedes(next, $0) } == true ? next : best
            } ?? .null
        case .max:
            return known.dropFirst().reduce(known.first) { best, next in
                best.map { ValueOrder.precedes($0, next) } == true ? next : best
            } ?? .null
        case .sum, .average:
            var sum = Summation()
            for value in known { try sum.add(value) }
            return try (method == .sum ? sum.total : sum.mean) ?? .null
        case .custom: return try function?.body(known) ?? .null
        }
    }
}
