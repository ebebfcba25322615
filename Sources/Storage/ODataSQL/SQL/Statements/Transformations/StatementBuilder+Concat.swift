import GRDB
import ODataModel
import ODataQuery
import ODataService

/// `concat` (OData Data Aggregation 4.0, 3.2.2): the concatenated results of several sequences of transformations
/// on the same input.
extension StatementBuilder {
    func concat(_ sequences: [[BoundTransformation]]) throws {
        try settle()
        let shared = share()
        let branches = try sequences.map { sequence in
            let branch = shared.fork()
            compiler.scopes[variable] = branch.scope
            for transformation in sequence { try branch.apply(transformation) }
            try branch.settle()
            return branch
        }
        try unite(branches)
    }

    /// The maximum number of variants of rows in a statement.
    private static let maxVariants = 256

    /// Replaces the rows with the concatenated rows of several builders.
    ///
    /// - Throws: ``ODataError`` 400 if the rows have more than ``maxVariants`` variants.
    private func unite(_ branches: [StatementBuilder]) throws {
        var columns: [[SQLFragment]] = branches.map { _ in [] }
        let template = try united(branches.map(\.scope), prefix: "", &columns)
        let attached = Set(template.attachments.map(\.name))
        let alias = compiler.newAlias()
        var kinds: [Variant] = []
        var selects: [SQLFragment] = []
        for (index, branch) in branches.enumerated() {
            var columns = columns[index]
            for (position, operand) in branch.partition.enumerated() {
                columns.append("\(operand.sortable) AS \(name: "$p.\(position)")")
            }
            let lacking = attached.subtracting(branch.scope.attachments.map(\.name))
            // A chain of `concat` multiplies the variants of its steps.
            guard kinds.count + (branch.variants?.kinds.count ?? 1) <= Self.maxVariants else {
                throw ODataError.tooComplex
            }
            if let (column, own) = branch.variants {
                columns.append("(\(column) + \(.number(kinds.count))) AS \(name: "$v")")
                kinds += own.map {
                    Variant(names: $0.names, isEntity: $0.isEntity, lacking: $0.lacking.union(lacking))
                }
            } else {
                columns.append("\(.number(kinds.count)) AS \(name: "$v")")
                kinds.append(Variant(names: branch.names, isEntity: branch.scope.table != nil, lacking: lacking))
            }
            columns.append("\(.number(index)) AS \(name: "$o.0")")
            let terms = branch.totalOrder.map(\.fragment)
            let over: SQLFragment = terms.isEmpty ? "" : "ORDER BY \(list: terms)"
            columns.append("ROW_NUMBER() OVER (\(over)) AS \(name: "$o.1")")
            selects.append(
                """
                SELECT \(list: columns) FROM \(branch.scope.fromClause)\
                \(ExpressionCompiler.whereClause(branch.conditions))
                """)
        }
        let united = template.scope(
            alias: alias, from: "(\(list: selects, by: " UNION ALL ")) AS \(name: alias)", root: nil)
        let last = branches[branches.count - 1]
        scope = united
        conditions = []
        limit = nil
        order = ["$o.0", "$o.1"].map {
            CompiledQuery.SortTerm(sql: "\(column: $0, of: alias)", isNullable: false, isDescending: false)
        }
        partition = last.partition.enumerated().map { $1.moved(to: "\(column: "$p.\($0)", of: alias)") }
        var seen: Set<String> = []
        names = kinds.flatMap(\.names).filter { seen.insert($0).inserted }
        let alike = Set(kinds).count == 1
        variants = alike ? nil : ("\(column: "$v", of: alias)", kinds)
        for name in names where !alike {
            let with = kinds.indices.filter { kinds[$0].names.contains(name) }
            united.defined[name] = "\(column: "$v", of: alias) IN (\(list: with.map { .number($0) }))"
        }
        identity = .nothing
        expands = branches.flatMap(\.expands)
        if branches.contains(where: \.mayHaveLostPartitions) { mayHaveLostPartitions = true }
        compiler.scopes[variable] = united
    }

    /// Adds the columns of several scopes, with NULL in place of columns that a scope lacks.
    ///
    /// - Parameters:
    ///   - scopes: the scope of each branch; `nil` if the branch has none with the name.
    ///   - columns: the columns of each branch, to which the columns are added.
    private func united(
        _ scopes: [SQLScope?], prefix: String, _ columns: inout [[SQLFragment]]
    ) throws -> Template {
        func add(_ name: String, _ sql: [SQLFragment?]) {
            for (index, sql) in sql.enumerated() { columns[index].append("\(sql ?? "NULL") AS \(name: name)") }
        }
        let table = scopes.lazy.compactMap { $0?.table }.first
        if scopes.contains(where: { $0?.table != nil && $0?.table?.set != table?.set }) {
            throw ODataError.notImplemented("concat of rows of different sets")
        }
        let template = Template(source: table.map { .table($0) } ?? .derived, prefix: prefix)
        for column in table?.statementColumns ?? [] {
            add(prefix + column, scopes.map { $0?.table == nil ? nil : $0?.sql(column) })
        }
        var names: [String] = []
        for scope in scopes { names += (scope?.computed.keys.sorted() ?? []).filter { !names.contains($0) } }
        for (position, name) in names.enumerated() {
            // A value that only some branches compute may be a property of the table in the others.
            let values = try unified(
                try scopes.map { scope in
                    try scope?.computed[name] ?? scope.flatMap { try compiler.operand(named: name, in: $0) }
                }, name)
            let column = "\(prefix)$c.\(position)"
            add(column, values.map { $0?.sortable })
            guard var operand = values.lazy.compactMap({ $0 }).first else { continue }
            operand.isNullable = true
            template.computed.append((name, column, operand))
        }
        var attached: [String] = []
        for scope in scopes {
            attached += (scope?.attachments ?? []).map(\.name).filter { !attached.contains($0) }
        }
        for (position, name) in attached.enumerated() {
            let found = scopes.map { scope in scope?.attachments.first { $0.name == name } }
            guard let first = found.lazy.compactMap({ $0 }).first else { continue }
            guard found.allSatisfy({ $0 == nil || $0?.names == first.names }) else {
                throw ODataError.notImplemented("concat of different rows under the name \(name)")
            }
            let presence = "\(prefix)$j.\(position)"
            let inner = try united(found.map { $0?.scope }, prefix: "\(presence).", &columns)
            add(presence, found.map { $0?.presence })
            template.attachments.append((name, first.names, presence, first.isInline, inner))
        }
        return template
    }

    /// Returns the operands of a name in a common form.
    private func unified(_ operands: [Operand?], _ name: String) throws -> [Operand?] {
        let known = operands.compactMap { $0 }
        guard let first = known.first, known.contains(where: { $0.codec != first.codec }) else { return operands }
        let canonical = try known.map { try compiler.normalized($0) }
        if canonical.allSatisfy({ $0.codec == canonical[0].codec }) {
            return try operands.map { try $0.map { try compiler.normalized($0) } }
        }
        guard canonical.allSatisfy(\.codec.isNumeric) else {
            throw ODataError.notImplemented("concat of values of different types under the name \(name)")
        }
        let common: ColumnCodec = canonical.contains { $0.codec.isFloating } ? .double : .decimalBytes
        return try operands.map { try $0.map { try compiler.converted($0, to: common) } }
    }
}
