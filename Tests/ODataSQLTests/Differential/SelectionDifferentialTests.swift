import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataQuery
@testable import ODataSQL

/// Compares the results of SQL and of the evaluator for random dynamic queries.
///
/// `OUTPOST_DIFFERENTIAL` is the number of queries; the default is 300. A failure is printed in its JSON form with its
/// seed.
@Suite("Dynamic queries: SQL against the evaluator")
struct SelectionDifferentialTests {
    static let perSample = 20

    @Test("Random dynamic queries have equal results, and equal JSON forms")
    func random() throws {
        let environment = ProcessInfo.processInfo.environment
        let wanted = environment["OUTPOST_DIFFERENTIAL"].flatMap(Int.init) ?? 300
        let first = environment["OUTPOST_DIFFERENTIAL_SEED"].flatMap(UInt64.init) ?? 1
        var tally = DifferentialTests.Tally()
        for number in 0..<UInt64((wanted + Self.perSample - 1) / Self.perSample) {
            let seed = first + number
            let differential = try SelectionDifferential(try Sample(seed: seed))
            var generator = SelectionGenerator(sample: differential.sample, seed: seed)
            for _ in 0..<Self.perSample where tally.different < 20 {
                let selection = generator.selection()
                let outcome = differential.compare(selection)
                tally.add(outcome)
                if case .different = outcome {
                    let smallest = differential.shrunk(selection)
                    Issue.record("seed \(seed): \(differential.describe(smallest))")
                }
                let json = try selection.json()
                #expect(try Selection(json: json) == selection, "\(String(decoding: json, as: UTF8.self))")
            }
        }
        print("Dynamic queries: \(tally)")
        // Too many refused queries could hide differences.
        #expect(tally.same * 10 >= (tally.same + tally.refused) * 9, "\(tally)")
    }
}

/// A sample that dynamic queries read by the evaluator and by SQL.
struct SelectionDifferential {
    let sample: Sample
    let queue: DatabaseQueue

    init(_ sample: Sample) throws {
        self.sample = sample
        queue = try sample.database()
    }

    func expected(_ bound: BoundSelection) throws -> SelectionResult {
        try Evaluator(model: sample.model, source: sample.data, now: Differential.now).evaluate(bound)
    }

    func actual(_ bound: BoundSelection) throws -> SelectionResult {
        try queue.read { database in
            let compiler = SQLCompiler(mapping: sample.mapping, options: .init(now: Differential.now))
            let compiled = try compiler.compile(bound)
            let fragment = compiled.firstPage(limit: compiled.top, offset: compiled.skip)
            let rows = try Row.fetchAll(
                database, sql: fragment.sql, arguments: StatementArguments(fragment.arguments))
            return SelectionResult(
                columns: bound.resultColumns,
                rows: try rows.map { row in
                    let values = try compiled.plan.fields.enumerated().map { index, field -> ODataValue in
                        guard case .value(_, _, let slot) = field else { return .null }
                        return try slot.storage.decode(row[index], in: sample.model)
                    }
                    return SelectionRow(columns: bound.resultColumns, values: values)
                })
        }
    }

    func compare(_ selection: Selection) -> Differential.Outcome {
        let bound: BoundSelection
        do {
            bound = try Binder(model: sample.model).bind(selection)
        } catch {
            return .refused("binder: \(error.kind)")
        }
        switch (Result { try expected(bound) }, Result { try actual(bound) }) {
        case (.failure, .failure): return .refused("both: an error of the query")
        case (.failure(let error), .success): return .refused("evaluator: \(error)")
        case (.success(let result), .failure(let error)):
            if let error = error as? ODataError, error.status == 501 { return .refused("SQL: \(error.target ?? "")") }
            if let error = error as? DatabaseError, error.isTooComplex { return .refused("SQL: too complex") }
            if "\(error)".contains("too many digits") { return .refused("SQL: overflow") }
            return .different("\(result.count) rows, but SQL says \(error)")
        case (.success(let expected), .success(let found)):
            let isOrdered = !selection.order.isEmpty && selection.order.count == selection.columns.count
            return Self.agree(expected, found, isOrdered: isOrdered)
                ? .same
                : .different(
                    "\n  expected \(expected.rows.map(\.values))\n  found    \(found.rows.map(\.values))")
        }
    }

    static func agree(_ left: SelectionResult, _ right: SelectionResult, isOrdered: Bool) -> Bool {
        guard left.count == right.count else { return false }
        if isOrdered { return zip(left, right).allSatisfy { agree($0.values, $1.values) } }
        var rest = right.rows
        for row in left {
            guard let index = rest.firstIndex(where: { agree(row.values, $0.values) }) else { return false }
            rest.remove(at: index)
        }
        return true
    }

    private static func agree(_ left: [ODataValue], _ right: [ODataValue]) -> Bool {
        left.count == right.count
            && zip(left, right).allSatisfy { a, b in
                switch (a, b) {
                case (.double(let a), .double(let b)):
                    a == b || a.isNaN && b.isNaN || abs(a - b) <= 4 * max(a.ulp, b.ulp)
                default: ValueOrder.isEqual(a, b)
                }
            }
    }

    /// Returns a simpler query with different results.
    func shrunk(_ selection: Selection) -> Selection {
        var best = selection
        var tries = 0
        var isSmaller = true
        while isSmaller, tries < 300 {
            isSmaller = false
            for next in best.simpler() where tries < 300 {
                tries += 1
                guard case .different = compare(next) else { continue }
                best = next
                isSmaller = true
                break
            }
        }
        return best
    }

    func describe(_ selection: Selection) -> String {
        let json = (try? selection.json()).map { String(decoding: $0, as: UTF8.self) } ?? "no JSON"
        var reason = ""
        if case .different(let text) = compare(selection) { reason = text }
        let sql: String? = try? queue.read { _ in
            let bound = try Binder(model: sample.model).bind(selection)
            return try SQLCompiler(mapping: sample.mapping, options: .init(now: Differential.now)).compile(bound).sql
        }
        return "\(json)\n  \(sql ?? "no SQL")\n  \(reason)"
    }
}

extension Selection {
    /// Returns queries with one part less.
    fileprivate func simpler() -> [Selection] {
        var result: [Selection] = []
        func add(_ change: (inout Selection) -> Void) {
            var next = self
            change(&next)
            if next != self { result.append(next) }
        }
        add { $0.combinations = [] }
        for index in combinations.indices { add { $0.combinations.remove(at: index) } }
        add { $0.test = nil }
        add { $0.having = nil }
        add { $0.isDistinct = false }
        add {
            $0.order = []
            $0.skip = nil
            $0.take = nil
        }
        add { $0.skip = nil }
        add { $0.take = nil }
        if let last = sources.indices.last, last > 0 { add { $0.sources.remove(at: last) } }
        for index in columns.indices where columns.count > 1 {
            add {
                $0.columns.remove(at: index)
                $0.order = []
            }
        }
        for index in groups.indices { add { $0.groups.remove(at: index) } }
        for index in sources.indices {
            add { $0.sources[index].condition = nil }
            if case .selection(let inner) = sources[index].rows {
                for next in inner.simpler() { add { $0.sources[index].rows = .selection(next) } }
            }
            for next in sources[index].condition?.simpler() ?? [] { add { $0.sources[index].condition = next } }
        }
        for next in test?.simpler() ?? [] { add { $0.test = next } }
        for next in having?.simpler() ?? [] { add { $0.having = next } }
        return result
    }
}

extension QueryTest {
    fileprivate func simpler() -> [QueryTest] {
        switch self {
        case .all(let tests):
            return tests
                + tests.indices.flatMap { index in tests[index].simpler().map { .all(tests.replacing(index, $0)) } }
        case .any(let tests):
            return tests
                + tests.indices.flatMap { index in tests[index].simpler().map { .any(tests.replacing(index, $0)) } }
        case .not(let test): return [test] + test.simpler().map { .not($0) }
        case .test(let left, let symbol, .selection(let selection)):
            return selection.simpler().map { .test(left, symbol, .selection($0)) }
        case .test, .state: return []
        }
    }
}

extension [QueryTest] {
    fileprivate func replacing(_ index: Int, _ test: QueryTest) -> [QueryTest] {
        var result = self
        result[index] = test
        return result
    }
}
