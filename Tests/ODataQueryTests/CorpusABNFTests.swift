import Foundation
import ODataModel
import TestCorpus
import Testing

@testable import ODataQuery

/// The grammar cases of the corpus. Which names are entity sets and which are functions is stated beside them; the
/// parser knows no names, so that a refusal that needs them is counted apart and left to the binder.
@Suite(
    "Corpus: grammar cases of the OData TC", .enabled(if: Corpus.isPresent, "no corpus at ../shared/corpus"))
struct CorpusABNFTests {
    struct Case {
        let rule: String
        let input: String
        let failAt: Int?
    }

    /// How many of a hundred cases the grammar may refuse for what a name stands for, which takes a model.
    static let percentLeftToTheBinder = 3

    static func cases(in file: String) throws -> [Case] {
        guard let document = try JSONSerialization.jsonObject(with: Data(Corpus.bytes(file))) as? [String: Any],
            let list = document["cases"] as? [[String: Any]]
        else { return [] }
        return list.compactMap { entry in
            guard let rule = entry["Rule"] as? String, let input = entry["Input"] as? String else { return nil }
            let failAt = (entry["FailAt"] as? Int) ?? (entry["FailAt"] as? String).flatMap { Int($0) }
            return Case(rule: rule, input: input, failAt: failAt)
        }
    }

    @Test("The parser takes what the grammar takes and refuses what it refuses")
    func grammar() throws {
        var passed: [String: Int] = [:]
        var failed: [String: [String]] = [:]
        var accepted: [String] = []
        var exact = 0
        var refused = 0
        var late: [String] = []
        for file in Corpus.files("abnf", where: { $0.hasSuffix(".json") }) {
            for entry in try Self.cases(in: file) {
                let error = Self.parse(entry)
                if entry.failAt != nil, let error {
                    refused += 1
                    if error.offset == entry.failAt { exact += 1 }
                    if let failAt = entry.failAt, let offset = error.offset, offset > failAt {
                        late.append("\(entry.rule): \(entry.input)  →  at \(offset) for \(failAt): \(error)")
                    }
                }
                if entry.failAt != nil, error == nil {
                    accepted.append("\(entry.rule): \(entry.input)")
                } else if (entry.failAt != nil) == (error != nil) {
                    passed[entry.rule, default: 0] += 1
                } else {
                    failed[entry.rule, default: []].append("\(entry.input)  →  \(error?.description ?? "accepted")")
                }
            }
        }
        for rule in Set(passed.keys).union(failed.keys).sorted() {
            print("\(rule): \(passed[rule] ?? 0) passed, \(failed[rule]?.count ?? 0) failed")
            for line in failed[rule] ?? [] { print("    \(line)") }
        }
        print("\(exact) of \(refused) refusals at the very character.")
        print("\(late.count) refused later than there:")
        for line in late { print("    \(line)") }
        print("\(accepted.count) cases whose refusal takes a model:")
        for line in accepted { print("    \(line)") }
        let total = passed.values.reduce(0, +)
        print("Total: \(total) passed, \(failed.values.reduce(0) { $0 + $1.count }) failed")
        #expect(failed.isEmpty)
        #expect(accepted.count * 100 <= (total + accepted.count) * Self.percentLeftToTheBinder)
    }

    /// The error that an input meets; `nil` when it is accepted.
    static func parse(_ entry: Case) -> QueryError? {
        do throws(QueryError) {
            switch entry.rule {
            case "odataUri": _ = try ODataURL(parsing: relative(entry.input))
            case "odataRelativeUri", "resourcePath": _ = try ODataURL(parsing: entry.input)
            case "filter", "apply", "top", "skip", "inlinecount", "format", "index", "schemaversion", "deltatoken",
                "expand", "select", "orderby", "orderBy", "compute", "search", "queryOptions", "skiptoken",
                "systemQueryOption", "customQueryOption":
                _ = try QueryOptions(parsing: entry.input)
            case "boolCommonExpr", "boolcommonExpr", "commonExpr", "firstMemberExpr", "propertyPathExpr", "notExpr",
                "isofExpr", "castExpr", "methodCallExpr", "boolMethodCallExpr", "functionExpr", "primitiveLiteral",
                "null":
                _ = try Expression(parsing: entry.input, isPercentEncoded: true)
            case "anyExpr", "allExpr": _ = try Expression(parsing: "Items/" + entry.input, isPercentEncoded: true)
            case "header", "prefer", "odata-version", "odata-maxversion", "odata-entityid", "odata-error", "content-id",
                "isolation", "asyncresult":
                _ = try HeaderField(parsing: entry.input)
            case "request-id": _ = try HeaderField.requestID(parsing: entry.input)
            case _ where entry.rule.lowercased().hasSuffix("preference"): _ = try Preference(parsing: entry.input)
            case "context":
                let context = try ContextURL(parsing: String(entry.input.dropFirst()))
                #expect(try ContextURL(parsing: context.description) == context)
            default: try Self.parseLexical(entry)
            }
            return nil
        } catch {
            return error
        }
    }

    static func parseLexical(_ entry: Case) throws(QueryError) {
        func check(_ isValid: Bool) throws(QueryError) {
            if !isValid { throw QueryError(.syntax, "Not a value.") }
        }
        func literal(_ accepts: (Literal) -> Bool) throws(QueryError) {
            guard case .literal(let literal) = try Expression(parsing: entry.input, isPercentEncoded: true) else {
                throw QueryError(.syntax, "Not a literal.")
            }
            try check(accepts(literal))
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
        case "durationLiteral": try literal { $0.type == .duration }
        case "durationValue": try check(ODataDuration(entry.input) != nil)
        case "stringLiteral": try literal { $0.type == .string }
        case "enumLiteral": try literal { $0.enumeration != nil || $0.type == .string }
        case "enumValue":
            try check(
                entry.input.split(separator: ",", omittingEmptySubsequences: false).allSatisfy {
                    Int64($0) != nil || $0.wholeMatch(of: /[A-Za-z_]\w*/) != nil
                })
        case "odataIdentifier": try check(entry.input.wholeMatch(of: /[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{N}_]{0,127}/) != nil)
        case "primitiveValue":
            let isGeo = (try? GeoValue(wellKnownText: entry.input, family: .geography)) != nil
            if !isGeo { try literal { _ in true } }
        case "decimalValue", "doubleValue", "singleValue", "doubleLiteral", "decimalLiteral", "singleLiteral",
            "sbyteLiteral", "int16Literal", "int32Literal", "int64Literal", "byte":
            try literal(isNumber)
        case let rule where rule.hasPrefix("geo"):
            let name = "Edm." + rule.prefix(1).uppercased() + rule.dropFirst()
            try literal { $0.type?.rawValue == name }
        default: throw QueryError(.unsupported(feature: entry.rule), "No test for the rule \(entry.rule).")
        }
    }

    /// The part below the service root, taken to end before the first segment that names a resource.
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
