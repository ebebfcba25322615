import ODataService
import Testing

@testable import OfflineOData

/// The decisions about responses, as tables. Exactly one row covers each combination of the columns before the
/// last one.
@Suite("Verdicts on responses")
struct VerdictTests {
    /// The responses by their names in the tables. A name such as `412 rejected` is an error with that
    /// `Repeatability-Result`.
    private static let answers: [String: Verdict.Answer] = {
        var answers: [String: Verdict.Answer] = [
            "made": .accepted, "202": .notDone(error(202)), "304": .notDone(error(304)),
            "unreadable": .unreadable(error(200)), "partly refused": .partlyRefused(error(400)),
            "partly answered": .partlyAnswered, "409 in doubt": .refused(error(409, code: "RepeatInDoubt")),
            "412 rejected": .refused(error(412, result: .rejected)),
            "501 rejected": .refused(error(501, result: .rejected)),
            "412 accepted": .refused(error(412, result: .accepted)),
            "422 accepted": .refused(error(422, result: .accepted)),
            "423 accepted": .refused(error(423, result: .accepted)),
            "503 later": .refused(error(503, retryAfter: 5)),
            "batch 404 without code": .batchRefused(error(404, code: "")),
            "batch 415 without code": .batchRefused(error(415, code: "")),
        ]
        for status in [
            400, 401, 404, 405, 407, 408, 409, 410, 412, 413, 415, 422, 423, 428, 429, 500, 501, 502, 503, 504,
        ] {
            answers[String(status)] = .refused(error(status))
        }
        for status in [404, 405, 415, 422, 423, 500, 501, 502] {
            answers["batch \(status)"] = .batchRefused(error(status))
        }
        return answers
    }()

    private static func error(
        _ status: Int, code: String = "Code", result: RepeatabilityResult? = nil, retryAfter: Int? = nil
    ) -> ODataError {
        ODataError(
            status: status, code: code, message: "", retryAfter: retryAfter, repeatabilityResult: result)
    }

    private static let changes: [String: Verdict.Facts.Content] = [
        "create": .single(.create), "update": .single(.update), "delete": .single(.delete),
        "stream": .single(.stream), "link": .single(.link), "unlink": .single(.unlink), "call": .single(.call),
        "set": .changeSet(isHarmfulTwice: false), "creating set": .changeSet(isHarmfulTwice: true),
    ]
    private static let repeats: [String: Bool?] = ["recognised": true, "ignored": false, "unknown": nil]
    private static let versions: [String: Verdict.Facts.Version] = ["none": .none, "own": .own, "found": .found]
    private static let sent = ["first": false, "again": true]

    /// Returns the facts for a combination of the columns change, repeats, version and sent.
    private static func facts(_ values: [String]) throws -> Verdict.Facts {
        Verdict.Facts(
            content: try #require(changes[values[0]]), isRepeatable: repeats[values[1]] ?? nil,
            version: try #require(versions[values[2]]), wasSent: sent[values[3]] ?? false)
    }

    private static let factColumns = [
        changes.keys.sorted(), repeats.keys.sorted(), versions.keys.sorted(), sent.keys.sorted(),
    ]

    // MARK: Answers

    @Test("Each answer to each kind of change has exactly one verdict")
    func answers() throws {
        // If a service recognises repeats but does not confirm a harmful one, the client looks for its traces.
        // Therefore, the refusals of creations and calls have separate rows for this case.
        let table = DecisionTable(
            """
            made                    | *                   | *                | *          | *     | accepted
            202                     | *                   | *                | *          | *     | in doubt: not done
            304                     | *                   | *                | *          | first | refused
            304                     | *                   | *                | *          | again | in doubt: not done
            unreadable              | *                   | *                | *          | *     | in doubt: unreadable
            partly refused          | *                   | *                | *          | *     | in doubt: partly refused
            partly answered         | *                   | *                | *          | *     | in doubt: partly answered

            401, 407, 429           | *                   | *                | *          | *     | put back
            503 later               | *                   | *                | *          | *     | put back
            408, 502, 503, 504      | *                   | *                | *          | *     | stay sent
            batch 502               | *                   | *                | *          | *     | stay sent

            501 rejected            | *                   | recognised       | *          | *     | again: without repeatability
            501 rejected            | *                   | unknown          | *          | *     | again: without repeatability
            501 rejected            | *                   | ignored          | *          | *     | refused
            412 rejected            | *                   | recognised       | *          | first | again: without identification
            412 rejected            | *                   | unknown          | *          | first | again: without identification
            412 rejected            | *                   | ignored          | *          | first | in doubt: forgotten
            412 rejected            | *                   | *                | *          | again | in doubt: forgotten

            423, 423 accepted       | *                   | *                | *          | *     | waits
            batch 423               | *                   | *                | *          | *     | waits

            400, 409                | create, call        | recognised       | *          | again | look for traces
            400, 409                | create, call        | recognised       | *          | first | refused
            400, 409                | create, call        | ignored, unknown | *          | *     | refused
            400, 409                | update, delete      | *                | *          | *     | refused
            400, 409                | stream, unlink, set | *                | *          | *     | refused
            400, 409                | link                | *                | *          | *     | look for relation
            400, 409                | creating set        | recognised       | *          | again | look for traces
            400, 409                | creating set        | recognised       | *          | first | refused
            400, 409                | creating set        | ignored, unknown | *          | *     | refused

            409 in doubt            | create, update      | *                | *          | *     | in doubt: unknown
            409 in doubt            | delete, stream      | *                | *          | *     | in doubt: unknown
            409 in doubt            | unlink, call        | *                | *          | *     | in doubt: unknown
            409 in doubt            | set, creating set   | *                | *          | *     | in doubt: unknown
            409 in doubt            | link                | *                | *          | *     | look for relation

            404, 410                | create, call        | recognised       | *          | again | look for traces
            404, 410                | create, call        | recognised       | *          | first | refused
            404, 410                | create, call        | ignored, unknown | *          | *     | refused
            404, 410                | update              | *                | *          | *     | conflict
            404, 410                | delete, unlink      | *                | *          | *     | already so
            404, 410                | stream, link        | *                | *          | *     | refused
            404, 410                | set                 | *                | *          | *     | look at versions
            404, 410                | creating set        | recognised       | *          | again | look for traces
            404, 410                | creating set        | recognised       | *          | first | look at versions
            404, 410                | creating set        | ignored, unknown | *          | *     | look at versions

            412                     | create              | recognised       | *          | again | look for traces
            412                     | create              | recognised       | *          | first | look at versions
            412                     | create              | ignored, unknown | *          | *     | look at versions
            412                     | update, delete      | *                | *          | *     | look at versions
            412                     | stream              | *                | *          | *     | look at versions
            412                     | link, unlink        | *                | *          | *     | refused
            412                     | call                | recognised       | *          | again | look for traces
            412                     | call                | recognised       | none       | first | refused
            412                     | call                | recognised       | own, found | first | look at versions
            412                     | call                | ignored, unknown | none       | *     | refused
            412                     | call                | ignored, unknown | own, found | *     | look at versions
            412                     | set                 | *                | *          | *     | look at versions
            412                     | creating set        | recognised       | *          | again | look for traces
            412                     | creating set        | recognised       | *          | first | look at versions
            412                     | creating set        | ignored, unknown | *          | *     | look at versions

            412 accepted            | create, update      | *                | *          | *     | look at versions
            412 accepted            | delete, stream      | *                | *          | *     | look at versions
            412 accepted            | link, unlink        | *                | *          | *     | refused
            412 accepted            | call                | *                | none       | *     | refused
            412 accepted            | call                | *                | own, found | *     | look at versions
            412 accepted            | set, creating set   | *                | *          | *     | look at versions
            422 accepted            | *                   | *                | *          | *     | refused

            428                     | create              | recognised       | *          | again | look for traces
            428                     | create              | recognised       | *          | first | look at versions
            428                     | create              | ignored, unknown | *          | *     | look at versions
            428                     | update, delete      | *                | *          | *     | look at versions
            428                     | stream              | *                | *          | *     | look at versions
            428                     | link, unlink        | *                | *          | *     | again: with any version
            428                     | call                | recognised       | *          | again | look for traces
            428                     | call                | recognised       | *          | first | refused
            428                     | call                | ignored, unknown | *          | *     | refused
            428                     | set                 | *                | *          | *     | look at versions
            428                     | creating set        | recognised       | *          | again | look for traces
            428                     | creating set        | recognised       | *          | first | look at versions
            428                     | creating set        | ignored, unknown | *          | *     | look at versions

            405, 501                | create, call        | recognised       | *          | again | look for traces
            405, 501                | create, call        | recognised       | *          | first | refused
            405, 501                | create, call        | ignored, unknown | *          | *     | refused
            405, 501                | update, delete, set | *                | *          | *     | refused
            405, 501                | stream, link, unlink | *               | *          | *     | refused
            405, 501                | creating set        | recognised       | *          | again | look for traces
            405, 501                | creating set        | recognised       | *          | first | refused
            405, 501                | creating set        | ignored, unknown | *          | *     | refused

            413, 415, 422, 500      | create, call        | recognised       | *          | again | look for traces
            413, 415, 422, 500      | create, call        | recognised       | *          | first | refused
            413, 415, 422, 500      | create, call        | ignored, unknown | *          | *     | refused
            413, 415, 422, 500      | update, delete, set | *                | *          | *     | refused
            413, 415, 422, 500      | stream, link, unlink | *               | *          | *     | refused
            413, 415, 422, 500      | creating set        | recognised       | *          | again | look for traces
            413, 415, 422, 500      | creating set        | recognised       | *          | first | refused
            413, 415, 422, 500      | creating set        | ignored, unknown | *          | *     | refused

            batch 422, batch 500    | create, call        | recognised       | *          | again | look for traces
            batch 422, batch 500    | create, call        | recognised       | *          | first | refused
            batch 422, batch 500    | create, call        | ignored, unknown | *          | *     | refused
            batch 422, batch 500    | update, delete, set | *                | *          | *     | refused
            batch 422, batch 500    | stream, link, unlink | *               | *          | *     | refused
            batch 422, batch 500    | creating set        | recognised       | *          | again | look for traces
            batch 422, batch 500    | creating set        | recognised       | *          | first | refused
            batch 422, batch 500    | creating set        | ignored, unknown | *          | *     | refused

            batch 404, batch 405    | *                   | *                | *          | first | one by one: certain
            batch 404, batch 405    | *                   | ignored, unknown | *          | again | one by one: certain
            batch 404, batch 405    | *                   | recognised       | *          | again | look for traces
            batch 415, batch 501    | *                   | *                | *          | first | one by one: certain
            batch 415, batch 501    | *                   | ignored, unknown | *          | again | one by one: certain
            batch 415, batch 501    | *                   | recognised       | *          | again | look for traces
            batch 404 without code  | *                   | *                | *          | first | one by one: uncertain
            batch 404 without code  | *                   | ignored, unknown | *          | again | one by one: uncertain
            batch 404 without code  | *                   | recognised       | *          | again | stay sent
            batch 415 without code  | *                   | *                | *          | first | one by one: uncertain
            batch 415 without code  | *                   | ignored, unknown | *          | again | one by one: uncertain
            batch 415 without code  | *                   | recognised       | *          | again | stay sent
            """)
        let problems = try table.problems(of: [Self.answers.keys.sorted()] + Self.factColumns) { values in
            let answer = try #require(Self.answers[values[0]])
            return Verdict.of(answer, try Self.facts(Array(values.dropFirst()))).name
        }
        #expect(problems == [])
    }

    // MARK: Findings

    @Test("Each finding after a refusal has exactly one verdict")
    func findings() throws {
        let table = DecisionTable(
            """
            as asked   | *                 | *                           | *                | *          | *     | already so
            unreadable | 409 in doubt      | link, unlink                | *                | *          | *     | in doubt: unknown
            unreadable | 412, 428          | link, unlink                | *                | *          | *     | refused
            unreadable | *                 | create, update, delete      | *                | *          | *     | refused
            unreadable | *                 | stream, call                | *                | *          | *     | refused
            unreadable | *                 | set, creating set           | *                | *          | *     | refused

            unchanged  | 409 in doubt      | link, unlink                | *                | *          | *     | in doubt: unknown
            unchanged  | 412, 428          | link, unlink                | *                | *          | *     | refused
            unchanged  | *                 | call                        | *                | *          | *     | refused
            unchanged  | 412, 409 in doubt | set, creating set           | *                | *          | *     | refused
            unchanged  | 428               | set, creating set           | *                | *          | *     | again: with any version
            unchanged  | 428               | create, update              | *                | none       | *     | again: with found version
            unchanged  | 428               | delete, stream              | *                | none       | *     | again: with found version
            unchanged  | 428               | create, update              | *                | own, found | *     | conflict
            unchanged  | 428               | delete, stream              | *                | own, found | *     | conflict
            unchanged  | 412, 409 in doubt | create, update              | *                | *          | *     | conflict
            unchanged  | 412, 409 in doubt | delete, stream              | *                | *          | *     | conflict

            ours       | 409 in doubt      | link, unlink                | *                | *          | *     | in doubt: unknown
            ours       | 412, 428          | link, unlink                | *                | *          | *     | refused
            ours       | *                 | update, stream              | ignored, unknown | *          | again | accepted
            ours       | *                 | update, stream              | ignored, unknown | *          | first | conflict
            ours       | *                 | update, stream              | recognised       | *          | *     | conflict
            ours       | *                 | create, delete, call        | *                | *          | *     | conflict
            ours       | *                 | set, creating set           | *                | *          | *     | conflict

            other      | 409 in doubt      | link, unlink                | *                | *          | *     | in doubt: unknown
            other      | 412, 428          | link, unlink                | *                | *          | *     | refused
            other      | *                 | create, update, delete      | *                | *          | *     | conflict
            other      | *                 | stream, call                | *                | *          | *     | conflict
            other      | *                 | set, creating set           | *                | *          | *     | conflict
            """)
        let findings: [String: Verdict.Finding] = [
            "as asked": .asAsked, "unreadable": .unreadable, "unchanged": .unchanged, "ours": .ours, "other": .other,
        ]
        #expect(Set(findings.values) == Set(Verdict.Finding.allCases))
        let errors = [
            "412": Self.error(412), "428": Self.error(428), "409 in doubt": Self.error(409, code: "RepeatInDoubt"),
        ]
        let columns = [findings.keys.sorted(), errors.keys.sorted()] + Self.factColumns
        let problems = try table.problems(of: columns) { values in
            let finding = try #require(findings[values[0]])
            let error = try #require(errors[values[1]])
            return Verdict.of(finding, after: error, try Self.facts(Array(values.dropFirst(2)))).name
        }
        #expect(problems == [])
    }

    // MARK: Further facts

    @Test("A request is sent in another form once and never twice in the same form")
    func furtherFacts() throws {
        func verdict(
            _ status: Int, _ change: String, again: Bool = false, repeats: Bool? = nil,
            _ set: (inout Verdict.Facts) -> Void
        ) throws -> String {
            var facts = Verdict.Facts(
                content: try #require(Self.changes[change]), isRepeatable: repeats, wasSent: again)
            set(&facts)
            return Verdict.of(.refused(Self.error(status)), facts).name
        }
        for status in [405, 501] {
            for change in ["update", "set", "creating set"] {
                #expect(try verdict(status, change) { $0.canSendWhole = true } == "again: with whole entities")
            }
            #expect(try verdict(status, "delete") { $0.canSendWhole = true } == "refused")
        }
        for change in ["link", "unlink"] {
            #expect(try verdict(428, change) { $0.tookAnyVersion = true } == "refused")
        }
        for references in Verdict.Facts.References.allCases {
            let isNew = references == .untried || references == .refused
            #expect(
                try verdict(400, "set") { $0.references = references }
                    == (isNew ? "one by one: references" : "refused"))
            #expect(
                try verdict(501, "set") { $0.references = references }
                    == (references == .none ? "refused" : "one by one: no references"))
        }
        // Without traces, a refusal counts as that of a first transmission.
        for change in ["create", "call", "creating set"] {
            #expect(try verdict(422, change, again: true, repeats: true) { _ in } == "look for traces")
            #expect(try verdict(422, change, again: true, repeats: true) { $0.hasNoTraces = true } == "refused")
        }
        var facts = Verdict.Facts(content: .changeSet(isHarmfulTwice: true), isRepeatable: true, wasSent: true)
        facts.hasNoTraces = true
        #expect(Verdict.of(.batchRefused(Self.error(404)), facts).name == "one by one: certain")
        facts.tookAnyVersion = true
        #expect(Verdict.of(.unchanged, after: Self.error(428), facts) == .refused)
        // Another copy of the store may have sent the request within the window.
        var copy = Verdict.Facts(content: .single(.create), isRepeatable: true, wasSent: false)
        copy.isCopy = true
        #expect(Verdict.of(.refused(Self.error(412, result: .rejected)), copy) == .inDoubt(.forgotten))
    }

    // MARK: Traces

    @Test(
        "The traces of a request tell whether it acted",
        arguments: [
            ([.made], .acted), ([.notMade], .sendAgain), ([.harmless], .sendAgain), ([.unknown], .unknown),
            ([.deleted], .acted), ([.made, .made], .acted), ([.made, .notMade], .unknown),
            ([.made, .unknown], .acted), ([.made, .harmless], .acted), ([.notMade, .unknown], .sendAgain),
            ([.notMade, .harmless], .sendAgain), ([.harmless, .unknown], .unknown), ([.deleted, .made], .acted),
            ([.deleted, .deleted], .acted), ([.deleted, .notMade], .unknown),
            // Other clients may have deleted the entity, and the other traces are inconclusive.
            ([.deleted, .unknown], .unknown), ([.deleted, .harmless], .unknown),
        ] as [([Verdict.Trace], Verdict.Conclusion)])
    func traces(_ traces: [Verdict.Trace], _ conclusion: Verdict.Conclusion) {
        #expect(Verdict.of(traces: traces) == conclusion)
    }
}

/// Rows of patterns with a decision. A pattern is `*` or a list of values.
private struct DecisionTable {
    private struct Row {
        let patterns: [Set<String>?]
        let decision: String
        let text: String
    }

    private let rows: [Row]

    init(_ text: String) {
        rows = text.split(separator: "\n").map { line in
            let cells = line.split(separator: "|").map { $0.trimmed }
            let patterns = cells.dropLast().map { cell -> Set<String>? in
                cell == "*" ? nil : Set(cell.split(separator: ",").map(\.trimmed))
            }
            return Row(patterns: patterns, decision: cells.last ?? "", text: cells.joined(separator: " | "))
        }
    }

    /// Returns the combinations with no row, several rows or a wrong decision, and the rows without a
    /// combination.
    func problems(of columns: [[String]], _ decide: ([String]) throws -> String) rethrows -> [String] {
        var problems: [String] = []
        var used = Set<Int>()
        let known = columns.map(Set.init)
        for row in rows where row.patterns.count != columns.count {
            problems.append("\(row.text): \(row.patterns.count) columns instead of \(columns.count)")
        }
        for row in rows {
            for (pattern, values) in zip(row.patterns, known) {
                for value in pattern ?? [] where !values.contains(value) {
                    problems.append("\(row.text): \(value) is no value")
                }
            }
        }
        for combination in Self.product(columns) {
            let found = rows.indices.filter { index in
                zip(rows[index].patterns, combination).allSatisfy { $0?.contains($1) ?? true }
            }
            used.formUnion(found)
            let text = combination.joined(separator: " | ")
            guard found.count == 1, let index = found.first else {
                problems.append("\(text): \(found.count) rows")
                continue
            }
            let decision = try decide(combination)
            if decision != rows[index].decision {
                problems.append("\(text): \(decision) instead of \(rows[index].decision)")
            }
        }
        for index in rows.indices where !used.contains(index) { problems.append("\(rows[index].text): never used") }
        return problems
    }

    private static func product(_ columns: [[String]]) -> [[String]] {
        columns.reduce([[]]) { rows, column in rows.flatMap { row in column.map { row + [$0] } } }
    }
}

extension StringProtocol {
    fileprivate var trimmed: String {
        var text = Substring(self)
        while text.first?.isWhitespace ?? false { text.removeFirst() }
        while text.last?.isWhitespace ?? false { text.removeLast() }
        return String(text)
    }
}

extension Verdict {
    /// The name of the verdict in the tables.
    fileprivate var name: String {
        switch self {
        case .accepted: "accepted"
        case .alreadySo: "already so"
        case .refused: "refused"
        case .waits: "waits"
        case .conflict: "conflict"
        case .lookForTraces: "look for traces"
        case .lookAtVersions: "look at versions"
        case .lookForRelation: "look for relation"
        case .interrupted(mayHaveActed: true): "stay sent"
        case .interrupted(mayHaveActed: false): "put back"
        case .inDoubt(.notDone): "in doubt: not done"
        case .inDoubt(.unreadable): "in doubt: unreadable"
        case .inDoubt(.partlyRefused): "in doubt: partly refused"
        case .inDoubt(.partlyAnswered): "in doubt: partly answered"
        case .inDoubt(.forgotten): "in doubt: forgotten"
        case .inDoubt(.unknown): "in doubt: unknown"
        case .sendAgain(.withoutRepeatability): "again: without repeatability"
        case .sendAgain(.withoutIdentification): "again: without identification"
        case .sendAgain(.withWholeEntities): "again: with whole entities"
        case .sendAgain(.withAnyVersion): "again: with any version"
        case .sendAgain(.withFoundVersion): "again: with found version"
        case .sendIndividually(.noChangeSets(isCertain: true)): "one by one: certain"
        case .sendIndividually(.noChangeSets(isCertain: false)): "one by one: uncertain"
        case .sendIndividually(.noReferences(isCertain: true)): "one by one: no references"
        case .sendIndividually(.noReferences(isCertain: false)): "one by one: references"
        }
    }
}
