import Foundation
import ODataModel
import TestCorpus
import Testing

@testable import ODataQuery

/// The grammar cases of the corpus.
///
/// Each document states the kinds of its names, such as entity sets and functions. The parser knows no names, so a
/// refusal that depends on them is counted separately and tested with the binder.
@Suite(
    "Corpus: grammar cases of the OData TC", .enabled(if: Corpus.isPresent, "no corpus at ../shared/corpus"))
struct CorpusABNFTests {
    struct Case {
        let rule: String
        let input: String
        let failAt: Int?
    }

    /// The maximum percentage of negative cases that neither the grammar nor a model of the names refuses.
    ///
    /// The document does not relate properties to types, and services differ in the segments that they allow after
    /// a stream.
    static let percentLeftToTypes = 20

    static func cases(in file: String) throws -> (cases: [Case], model: CorpusModel?) {
        guard let document = try JSONSerialization.jsonObject(with: Data(Corpus.bytes(file))) as? [String: Any],
            let list = document["cases"] as? [[String: Any]]
        else { return ([], nil) }
        let cases = list.compactMap { entry -> Case? in
            guard let rule = entry["Rule"] as? String, let input = entry["Input"] as? String else { return nil }
            let failAt = (entry["FailAt"] as? Int) ?? (entry["FailAt"] as? String).flatMap { Int($0) }
            return Case(rule: rule, input: input, failAt: failAt)
        }
        let names = document["constraints"] as? [String: [String]]
        return (cases, try names.map { try CorpusModel(constraints: $0) })
    }

    /// The results of the cases by grammar rule.
    struct Tally {
        var passed: [String: Int] = [:]
        var failed: [String: [String]] = [:]
        /// The negative cases that only a model can refuse: those that it refused, with the reason, and the others.
        var refusedByModel: [String] = []
        var accepted: [String] = []
        /// The refusals after the stated character.
        var late: [String] = []
        var refused = 0
        var exact = 0
        /// The positive cases that were bound against the model, and those that it refused.
        var bound = 0
        var unbound: [String] = []

        mutating func add(_ entry: Case, _ model: CorpusModel?) {
            let error = CorpusABNFTests.parse(entry)
            guard let failAt = entry.failAt else {
                if let error {
                    failed[entry.rule, default: []].append("\(entry.input)  →  \(error)")
                    return
                }
                passed[entry.rule, default: 0] += 1
                guard let model else { return }
                if let refusal = model.refusal(of: entry) {
                    unbound.append("\(entry.input)  →  \(refusal)")
                } else {
                    bound += 1
                }
                return
            }
            if let error {
                passed[entry.rule, default: 0] += 1
                refused += 1
                if error.offset == failAt { exact += 1 }
                if let offset = error.offset, offset > failAt {
                    late.append("\(entry.rule): \(entry.input)  →  at \(offset) for \(failAt): \(error)")
                }
            } else if let refusal = model?.refusal(of: entry) {
                passed[entry.rule, default: 0] += 1
                refusedByModel.append("\(entry.input)  →  \(refusal)")
            } else {
                accepted.append("\(entry.rule): \(entry.input)")
            }
        }

        func report() {
            for rule in Set(passed.keys).union(failed.keys).sorted() {
                print("\(rule): \(passed[rule] ?? 0) passed, \(failed[rule]?.count ?? 0) failed")
                for line in failed[rule] ?? [] { print("    \(line)") }
            }
            print("\(exact) of \(refused) refusals by the grammar at the very character, \(late.count) behind it:")
            for line in late { print("    \(line)") }
            print("\(refusedByModel.count) refused for the kinds of names:")
            for line in refusedByModel { print("    \(line)") }
            print("\(accepted.count) whose refusal takes the types of properties:")
            for line in accepted { print("    \(line)") }
            print("\(bound) positive cases bound over the names, \(unbound.count) not.")
            let total = passed.values.reduce(0, +)
            print("Total: \(total) passed, \(failed.values.reduce(0) { $0 + $1.count }) failed")
        }
    }

    @Test("The parser accepts the same texts as the grammar, and refuses others at the expected place")
    func grammar() throws {
        var tally = Tally()
        for file in Corpus.files("abnf", where: { $0.hasSuffix(".json") }) {
            let (cases, model) = try Self.cases(in: file)
            for entry in cases { tally.add(entry, model) }
        }
        tally.report()
        #expect(tally.failed.isEmpty)
        #expect(tally.late.isEmpty)
        let negative = tally.refused + tally.refusedByModel.count + tally.accepted.count
        #expect(tally.accepted.count * 100 <= negative * Self.percentLeftToTypes)
        // A model that refuses all cases would prove nothing.
        #expect(
            tally.bound * 100 >= (tally.bound + tally.unbound.count) * 80, "\(tally.unbound.joined(separator: "\n"))")
    }

    /// Returns the error of an input; `nil` if it is accepted.
    static func parse(_ entry: Case) -> QueryError? {
        do throws(QueryError) {
            switch entry.rule {
            case "odataUri": _ = try ODataURL(parsing: relative(entry.input))
            case "odataRelativeUri", "resourcePath": _ = try ODataURL(parsing: entry.input)
            case "context":
                let context = try ContextURL(parsing: String(entry.input.dropFirst()))
                #expect(try ContextURL(parsing: context.description) == context)
            case "header": _ = try HeaderField(parsing: entry.input)
            case "request-id": _ = try HeaderField.requestID(parsing: entry.input)
            case let rule where headers.contains(rule): _ = try HeaderField(parsing: entry.input)
            case let rule where rule.lowercased().hasSuffix("preference"): _ = try Preference(parsing: entry.input)
            case let rule where isOption(rule): _ = try parsedOptions(entry)
            case let rule where isExpression(rule): _ = try parsedExpression(entry)
            default: try parseLexical(entry)
            }
            return nil
        } catch {
            return error
        }
    }

    private static let headers: Set<String> = [
        "prefer", "odata-version", "odata-maxversion", "odata-entityid", "odata-error", "content-id", "isolation",
        "asyncresult",
    ]

    /// The rules for whole options.
    private static let options: Set<String> = [
        "filter", "apply", "top", "skip", "inlinecount", "format", "index", "schemaversion", "deltatoken", "expand",
        "select", "orderby", "orderBy", "compute", "search", "queryOptions", "queryOption", "skiptoken", "id",
        "systemQueryOption", "customQueryOption", "aliasAndValue", "nameAndValue", "batchOptions", "metadataOptions",
        "entityOptions",
    ]

    static func isOption(_ rule: String) -> Bool { surroundings[rule] != nil || options.contains(rule) }

    /// The text before and after a rule that is a part of an option.
    private static let surroundings: [String: (before: String, after: String)] = [
        "levels": ("$expand=Items(", ")"), "expandOption": ("$expand=Items(", ")"),
        "expandRefOption": ("$expand=Items/$ref(", ")"), "expandCountOption": ("$expand=Items/$count(", ")"),
        "selectOption": ("$select=Items(", ")"), "expandItem": ("$expand=", ""), "expandPath": ("$expand=", ""),
        "selectItem": ("$select=", ""), "selectProperty": ("$select=", ""), "orderbyItem": ("$orderby=", ""),
        "computeItem": ("$compute=", ""), "searchExpr": ("$search=", ""), "applyExpr": ("$apply=", ""),
        "aggregateExpr": ("$apply=aggregate(", ")"), "groupbyElement": ("$apply=groupby((", "))"),
    ].merging(
        [
            "aggregate", "ancestors", "bottomcount", "bottompercent", "bottomsum", "compute", "concat", "descendants",
            "filter", "groupby", "identity", "join", "nest", "orderby", "outerjoin", "search", "skip", "top",
            "topcount", "toppercent", "topsum", "traverse",
        ].map { ("\($0)Trafo", ("$apply=", "")) }
    ) { first, _ in first }

    static func parsedOptions(_ entry: Case) throws(QueryError) -> QueryOptions {
        let (before, after) = surroundings[entry.rule] ?? ("", "")
        do throws(QueryError) {
            let options = try QueryOptions(parsing: before + entry.input + after)
            // A misspelt option is a custom one, which most rules do not test.
            let isSystem = !["queryOptions", "queryOption", "customQueryOption", "nameAndValue"].contains(entry.rule)
            if isSystem, !entry.rule.hasSuffix("Options"), !options.custom.isEmpty || options.isEmpty {
                throw QueryError(.syntax, "Not the option \(entry.rule).", offset: 0)
            }
            return options
        } catch {
            var error = error
            error = QueryError(
                error.kind, error.message, offset: error.offset.map { max(0, $0 - before.count) }, part: error.part)
            throw error
        }
    }

    static func isExpression(_ rule: String) -> Bool {
        rule.hasSuffix("Expr") || rule == "primitiveLiteral" || rule == "null" || rule == "arrayOrObject"
    }

    static func parsedExpression(_ entry: Case) throws(QueryError) -> CommonExpression {
        let isLambda = entry.rule == "anyExpr" || entry.rule == "allExpr"
        guard isLambda else { return try CommonExpression(parsing: entry.input, isPercentEncoded: true) }
        do throws(QueryError) {
            return try CommonExpression(parsing: "Items/" + entry.input, isPercentEncoded: true)
        } catch {
            throw QueryError(error.kind, error.message, offset: error.offset.map { max(0, $0 - 6) })
        }
    }

    static func parseLexical(_ entry: Case) throws(QueryError) {
        func check(_ isValid: Bool) throws(QueryError) {
            if !isValid { throw QueryError(.syntax, "Not a value.") }
        }
        func literal(_ accepts: (Literal) -> Bool) throws(QueryError) {
            guard case .literal(let literal) = try CommonExpression(parsing: entry.input, isPercentEncoded: true)
            else {
                throw QueryError(.syntax, "Not a literal.")
            }
            try check(accepts(literal))
        }
        func text(_ literal: Literal) -> String? {
            if case .string(let text) = literal.value, literal.type == .string { text } else { nil }
        }
        let isNumber = { (literal: Literal) in
            switch literal.value {
            case .integer, .decimal, .double: true
            default: false
            }
        }
        switch entry.rule {
        case "binaryLiteral": try literal { $0.type == .binary }
        case "boolean", "booleanValue": try literal { $0.type == .boolean }
        case "date", "dateValue": try literal { $0.type == .date }
        case "guid", "guidValue": try literal { $0.type == .guid }
        case "dateTimeOffsetLiteral": try literal { $0.type == .dateTimeOffset }
        case "dateTimeOffsetValue": try check(!entry.input.contains("T24") && ODataDateTimeOffset(entry.input) != nil)
        case "timeOfDayLiteral": try literal { $0.type == .timeOfDay }
        case "timeOfDayValue": try check(ODataTimeOfDay(entry.input) != nil)
        // A duration without its prefix is a string until its type is known.
        case "durationLiteral": try literal { $0.type == .duration || text($0).flatMap { ODataDuration($0) } != nil }
        case "durationValue": try check(ODataDuration(entry.input) != nil)
        case "binaryValue": try check(Base64URL.decode(entry.input) != nil)
        case "stringLiteral", "stringValue": try literal { $0.type == .string }
        case "enumLiteral": try literal { $0.enumeration != nil || text($0).map(isEnumeration) == true }
        case "enumValue": try check(isEnumeration(entry.input))
        case "odataIdentifier": try check(entry.input.wholeMatch(of: /[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{N}_]{0,127}/) != nil)
        case "primitiveValue":
            let isValue = PrimitiveType.allCases.contains {
                $0 != .string && (try? ODataValue(lexical: entry.input, type: $0)) != nil
            }
            if !isValue, !isEnumeration(entry.input) { try literal { _ in true } }
        case let rule where rule.hasPrefix("geo"):
            let name = "Edm." + rule.prefix(1).uppercased() + rule.dropFirst()
            try literal { $0.type?.rawValue == name }
        case let rule where rule.hasPrefix("full") && rule.hasSuffix("Literal"):
            try check((try? GeoValue(wellKnownText: entry.input, family: .geography)) != nil)
        case let rule where rule == "byte" || numbers.contains { rule == "\($0)Value" || rule == "\($0)Literal" }:
            try literal(isNumber)
        default: throw QueryError(.unsupported(feature: entry.rule), "No test for the rule \(entry.rule).")
        }
    }

    private static let numbers = ["decimal", "double", "single", "sbyte", "int16", "int32", "int64"]

    private static func isEnumeration(_ text: String) -> Bool {
        text.split(separator: ",", omittingEmptySubsequences: false).allSatisfy {
            Int64($0) != nil || $0.wholeMatch(of: /[A-Za-z_]\w*/) != nil
        }
    }

    /// Returns the part of a URI below the service root, which is assumed to end before the first segment with a
    /// resource.
    static func relative(_ uri: String) -> String {
        let parts = uri.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4 else { return "" }
        var path = String(parts[3])
        while let slash = path.firstIndex(of: "/"), !path[..<slash].contains(where: { "($?".contains($0) }) {
            path = String(path[path.index(after: slash)...])
        }
        return path
    }
}
