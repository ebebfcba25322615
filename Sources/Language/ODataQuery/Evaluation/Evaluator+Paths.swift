import ODataModel

/// Evaluation of paths (OData URL Conventions 4.01, 5.1.1.15). The result is null if an instance on the path is
/// null.
extension Evaluator {
    func operand(_ path: BoundPath, in environment: Environment) throws -> Operand {
        var walk = Walk(at: environment.variables[path.variable.identifier] ?? .value(.null))
        for step in path.steps { try take(step, &walk, in: environment) }
        return walk.operand
    }

    /// Returns the members of a collection-valued path, one operand each. Nested collections are flattened.
    func members(of path: BoundPath, in environment: Environment) throws -> [Operand] {
        switch try operand(path, in: environment) {
        case .rows(let rows): return rows.map { .row($0) }
        case .row(let row): return row.map { [.row($0)] } ?? []
        case .value(.collection(let members)): return members.map { .value($0) }
        case .value(.null): return []
        case .value(let value): return [.value(value)]
        }
    }

    /// The state of following a path.
    private struct Walk {
        var operand: Operand
        /// The last instance on the path, and the complex properties after it, for navigation from a complex value.
        var owner: EvaluatedRow?
        var prefix: [String] = []

        init(at operand: Operand) {
            self.operand = operand
            if case .row(let row) = operand { owner = row }
        }
    }

    private func take(_ step: BoundStep, _ walk: inout Walk, in environment: Environment) throws {
        switch step {
        case .entitySet(let set, _): walk = Walk(at: .rows(try source.rows(of: set.name).map { EvaluatedRow($0) }))
        case .singleton(let singleton, _):
            walk = Walk(at: .row(try source.singleton(singleton.name).map { EvaluatedRow($0) }))
        case .property(let property, _, _): take(property.name, &walk)
        case .dynamic(let name), .computed(let name, _): take(name, &walk)
        case .annotation(let term):
            let place = walk.prefix.joined(separator: "/")
            walk.operand = .value(walk.owner?.annotation(place.isEmpty ? term : "\(place)@\(term)") ?? .null)
        case .navigation(let navigation, _, _): try navigate(navigation, &walk)
        case .cast(let shape): cast(to: shape, &walk)
        case .key(let key):
            guard case .rows(let rows) = walk.operand else { return }
            walk = Walk(at: .row(rows.first { Self.has(key, $0) }))
        case .filter(let condition, let variable):
            switch walk.operand {
            case .rows(let rows):
                walk.operand = .rows(
                    try rows.filter { try isTrue(condition, in: environment.with($0, as: variable.identifier)) })
            case .value(.collection(let members)):
                walk.operand = .value(
                    .collection(
                        try members.filter {
                            try isTrue(condition, in: environment.with(.value($0), as: variable.identifier))
                        }))
            default: break
            }
        }
    }

    private func take(_ name: String, _ walk: inout Walk) {
        switch walk.operand {
        case .row(let row):
            walk.owner = row
            walk.prefix = [name]
            walk.operand = .value(row?.property(name) ?? .null)
        case .rows(let rows):
            walk.prefix.append(name)
            walk.operand = .value(.collection(rows.flatMap { Self.flat($0.property(name) ?? .null) }))
        case .value(let value):
            walk.prefix.append(name)
            walk.operand = .value(Self.member(name, of: value))
        }
    }

    private static func member(_ name: String, of value: ODataValue) -> ODataValue {
        switch value {
        case .complex(let entity): entity[name] ?? .null
        case .collection(let members): .collection(members.flatMap { flat(member(name, of: $0)) })
        default: .null
        }
    }

    private static func flat(_ value: ODataValue) -> [ODataValue] {
        if case .collection(let members) = value { members } else { [value] }
    }

    private func navigate(_ navigation: NavigationProperty, _ walk: inout Walk) throws {
        let found: [EvaluatedRow]
        switch walk.operand {
        case .row(let row): found = try row?.rows(through: navigation.name) ?? []
        case .rows(let rows):
            walk = Walk(at: .rows(try rows.flatMap { try $0.rows(through: navigation.name) }))
            return
        case .value(let value):
            // Instances in collections contain their related instances.
            if case .collection(let members) = value {
                walk = Walk(at: .rows(members.flatMap { Self.related(navigation.name, to: $0) }))
                return
            }
            let path = (walk.prefix + [navigation.name]).joined(separator: "/")
            found = value.isNull ? [] : try walk.owner?.rows(through: path) ?? Self.related(navigation.name, to: value)
        }
        walk = Walk(at: navigation.isCollection ? .rows(found) : .row(found.first))
    }

    private static func related(_ name: String, to value: ODataValue) -> [EvaluatedRow] {
        guard case .complex(let entity) = value else { return [] }
        return entity.related(through: name).map { EvaluatedRow($0) }
    }

    private func cast(to shape: TypeShape, _ walk: inout Walk) {
        switch walk.operand {
        case .row(let row): if let row, !model.isType(row.typeName, shape.name) { walk.operand = .row(nil) }
        case .rows(let rows): walk.operand = .rows(rows.filter { model.isType($0.typeName, shape.name) })
        case .value(.complex(let entity)):
            if !model.isType(entity.typeName, shape.name) { walk.operand = .value(.null) }
        case .value(.collection(let members)):
            walk.operand = .value(
                .collection(
                    members.filter {
                        if case .complex(let entity) = $0 { model.isType(entity.typeName, shape.name) } else { false }
                    }))
        case .value: break
        }
    }

    /// Returns whether the value or instance at a path is of a structured type.
    func isOf(_ path: BoundPath, _ name: QualifiedName, in environment: Environment) throws -> Bool {
        switch try operand(path, in: environment) {
        case .row(let row?): model.isType(row.typeName, name)
        case .value(.complex(let entity)): model.isType(entity.typeName, name)
        default: false
        }
    }

    /// Returns whether the instance has the property at the end of a path (`isdefined`), even with a null value.
    func isDefined(_ path: BoundPath, in environment: Environment) throws -> Bool {
        guard let last = path.steps.last else { return true }
        var owner = path
        owner.steps.removeLast()
        let base = try operand(owner, in: environment)
        switch last {
        case .property(let property, _, _):
            switch base {
            case .row(let row?): return row.property(property.name) != nil
            case .value(.complex(let entity)): return entity[property.name] != nil
            default: return false
            }
        case .dynamic(let name), .computed(let name, _):
            switch base {
            case .row(let row?): return row.property(name) != nil
            case .value(.complex(let entity)): return entity[name] != nil
            default: return false
            }
        case .navigation(let navigation, _, _):
            guard case .row(let row?) = base else { return false }
            return row.base != nil || row.relations[navigation.name] != nil
        default: return !(try operand(path, in: environment)).isNull
        }
    }
}
