import ODataModel
import TestCorpus

@testable import ODataSQL

/// Generates random requests for a ``Sample``.
struct RequestGenerator {
    let sample: Sample
    var random: SeededGenerator
    var lambdas = 0
    /// A path from the instance of the outermost query.
    var outermost = "ID"

    init(sample: Sample, seed: UInt64) {
        self.sample = sample
        random = SeededGenerator(seed: seed)
    }

    /// The meaning of names: the set of the entities with these properties and the prefix of their paths, or the
    /// values of an aggregation.
    struct Place {
        var set: String?
        var prefix = ""
        /// The names with their prefix, by type.
        var values: [PrimitiveType: [String]] = [:]
    }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
    mutating func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &random)] }

    func place(_ set: String, _ prefix: String = "") -> Place {
        var place = Place(set: set, prefix: prefix)
        func add(_ type: PrimitiveType, _ name: String) { place.values[type, default: []].append(prefix + name) }
        add(.int32, "ID")
        for column in sample.columns[set] ?? [] { add(column.type, column.name) }
        if set == "As" {
            for name in ["NextID", "Place/Code", "Next/ID", "S.AX/X", "Next/Next/NextID", "Place/Top/NextID"] {
                add(.int32, name)
            }
            add(.string, "Place/City")
            for column in sample.columns["As"] ?? [] { add(column.type, "Next/\(column.name)") }
        } else {
            add(.int32, "AID")
            for column in sample.columns["As"] ?? [] { add(column.type, "A/\(column.name)") }
        }
        return place
    }

    // MARK: Expressions

    mutating func literal(_ type: PrimitiveType) -> Piece {
        let value = Sample.value(type, &random)
        let text: String
        switch value {
        case .string(let string): text = "'\(string.replacing("'", with: "''"))'"
        case .duration(let duration): text = "duration'\(duration)'"
        default: text = value.lexicalText ?? "null"
        }
        return Piece(type.rawValue, text)
    }

    mutating func value(_ type: PrimitiveType, _ place: Place, _ depth: Int) -> Piece {
        let kind = type.rawValue
        let paths = place.values[type] ?? []
        if depth <= 0 || chance(30) {
            return !paths.isEmpty && chance(80) ? Piece(kind, pick(paths)) : literal(type)
        }
        func part(_ texts: [String], _ parts: [Piece]) -> Piece { Piece(kind, texts, parts, simplest: "null") }
        switch type {
        case .int32, .int64:
            switch Int.random(in: 0..<8, using: &random) {
            case 0...2:
                let op = pick(["add", "sub", "mul", "div", "mod"])
                return part(["(", " \(op) ", ")"], [value(type, place, depth - 1), value(type, place, depth - 1)])
            case 3: return part(["(-(", "))"], [value(type, place, depth - 1)])
            case 4 where type == .int32: return part(["length(", ")"], [value(.string, place, depth - 1)])
            case 5 where type == .int32:
                return part(["indexof(", ",", ")"], [value(.string, place, depth - 1), literal(.string)])
            case 6 where place.values[.date] != nil && type == .int32:
                return part(["\(pick(["year", "month", "day"]))(", ")"], [value(.date, place, depth - 1)])
            case 7 where place.values[.dateTimeOffset] != nil && type == .int32:
                let name = pick(["hour", "minute", "second", "totaloffsetminutes", "year"])
                return part(["\(name)(", ")"], [value(.dateTimeOffset, place, depth - 1)])
            default: break
            }
        case .decimal:
            switch Int.random(in: 0..<6, using: &random) {
            case 0...2:
                let op = pick(["add", "sub", "mul", "div", "mod", "divby"])
                return part(["(", " \(op) ", ")"], [value(type, place, depth - 1), value(type, place, depth - 1)])
            case 3:
                return part(["\(pick(["round", "floor", "ceiling"]))(", ")"], [value(type, place, depth - 1)])
            case 4:
                return part(["(", " divby ", ")"], [value(.int32, place, depth - 1), value(.int32, place, depth - 1)])
            case 5: return part(["cast(", ",Edm.Decimal)"], [value(.int32, place, depth - 1)])
            default: break
            }
        case .double, .single:
            if chance(50) {
                let op = pick(["add", "sub", "mul", "div"])
                return part(["(", " \(op) ", ")"], [value(type, place, depth - 1), value(type, place, depth - 1)])
            }
        case .string:
            switch Int.random(in: 0..<6, using: &random) {
            case 0: return part(["concat(", ",", ")"], [value(type, place, depth - 1), value(type, place, depth - 1)])
            case 1: return part(["\(pick(["tolower", "toupper", "trim"]))(", ")"], [value(type, place, depth - 1)])
            case 2: return part(["substring(", ",\(pick(["0", "1", "-1", "2"])))"], [value(type, place, depth - 1)])
            case 3: return part(["substring(", ",1,\(pick(["0", "1", "2"])))"], [value(type, place, depth - 1)])
            case 4:
                let type = pick([PrimitiveType.int32, .int32, .double, .single])
                return part(["cast(", ",Edm.String)"], [value(type, place, depth - 1)])
            case 5:
                return part(
                    ["case(", ":", ",true:", ")"],
                    [condition(place, depth - 1), value(type, place, depth - 1), literal(type)])
            default: break
            }
        case .date where place.values[.dateTimeOffset] != nil && chance(50):
            return part(["date(", ")"], [value(.dateTimeOffset, place, depth - 1)])
        case .dateTimeOffset where chance(50):
            return part(
                ["(", " \(pick(["add", "sub"])) ", ")"],
                [value(type, place, depth - 1), value(.duration, place, depth - 1)])
        case .duration where chance(40):
            return part(["(", " mul ", ")"], [value(type, place, depth - 1), literal(.int32)])
        default: break
        }
        return paths.isEmpty ? literal(type) : Piece(kind, pick(paths))
    }

    mutating func condition(_ place: Place, _ depth: Int) -> Piece {
        func part(_ texts: [String], _ parts: [Piece]) -> Piece { Piece("bool", texts, parts, simplest: "true") }
        let types = place.values.keys.sorted { $0.rawValue < $1.rawValue }
        if depth > 0 {
            switch Int.random(in: 0..<20, using: &random) {
            case 18: return hierarchyTest(place)
            case 12 where place.set == "As":
                let literal = "S.Kind'\(pick(Sample.kinds + ["Red,Blue"]))'"
                return Piece("bool", "(\(place.prefix)Kind \(pick(["eq", "ne", "has", "lt", "ge"])) \(literal))")
            case 13 where place.set == "As":
                let spot = "\(place.prefix)Spot"
                return Piece(
                    "bool",
                    pick([
                        "(geo.distance(\(spot),geography'SRID=4326;Point(1 1)') le 200000)",
                        "geo.intersects(\(spot),geography'SRID=4326;Polygon((0.5 0.5,2.5 0.5,2.5 2.5,0.5 2.5,0.5 0.5))')",
                        "(\(spot) eq null)",
                    ]))
            case 14 where place.set == "As":
                let d = "\(place.prefix)D"
                let op = pick(["eq", "ne", "lt", "le", "gt", "ge"])
                let literal = pick(["1", "5", "null", "'a'", "0.25", "4e0", "true", "2024-01-01"])
                return Piece(
                    "bool",
                    pick([
                        "(\(d) \(op) \(literal))", "(\(d) \(op) \(place.prefix)Next/D)",
                        "(\(d) \(op) \(place.prefix)NextID)", "(\(d) in (1,'a',0.25,5))",
                        "(cast(\(d),Edm.Int32) \(op) 1)", "(cast(\(d),Edm.Decimal) \(op) 4)",
                        "(cast(\(d),Edm.String) \(op) '4')", "(cast(\(d),Edm.Single) \(op) 0.25)",
                        "(cast(\(d),Edm.Boolean) eq true)",
                    ]))
            case 15 where place.set == "As":
                let p = place.prefix
                let op = pick(["eq", "ne"])
                return Piece(
                    "bool",
                    pick([
                        "(\(p)Place \(op) \(p)Next/Place)", "(\(p)Spot \(op) \(p)Next/Spot)",
                        "(\(p)Next \(op) \(p)Place/Top)", "(\(p)Place/Top/Place \(op) \(p)Place)",
                        "(\(p)Place \(op) {\"City\":\"a\",\"Code\":1})", "(\(p)Place \(op) {\"City\":null})",
                        "(\(p)Spot \(op) geography'SRID=4326;Point(1 1)')", "(\(p)S.AX \(op) \(p)Next)",
                    ]))
            case 16 where place.set == "As":
                let p = place.prefix
                return Piece(
                    "bool",
                    pick([
                        "(\(p)Kind eq cast(concat('Red',''),S.Kind))",
                        "(cast(\(p)Kind,Edm.String) eq 'Red')",
                        "contains(cast(\(p)Kind,Edm.String),concat('Green,','Blue'))",
                        "(cast(cast(\(p)Kind,Edm.String),S.Kind) eq \(p)Kind)",
                        "(cast(concat('Green,','Blue'),S.Kind) ge \(p)Kind)",
                        "(cast(concat('Re',\(p)Place/City),S.Kind) eq null)",
                    ]))
            case 17 where place.set == "As":
                let p = place.prefix
                return Piece(
                    "bool",
                    pick([
                        "(\(p)Tags/$count($filter=$this ne 'a') eq 1)", "(\(p)Nums/$count($filter=$this gt 1) ge 2)",
                        "(\(p)Tags/$count($filter=length($this) gt 1) lt 2)", "(\(p)Bs/$count($filter=ID gt 3) ge 1)",
                        "(\(p)Bs/$count($search=a) ge 1)",
                    ]))
            case 0, 1:
                return part(
                    ["(", " \(pick(["and", "or"])) ", ")"], [condition(place, depth - 1), condition(place, depth - 1)])
            case 2: return part(["not (", ")"], [condition(place, depth - 1)])
            case 3:
                let name = pick(["contains", "startswith", "endswith"])
                return part(["\(name)(", ",", ")"], [value(.string, place, depth - 1), value(.string, place, 0)])
            case 4:
                let type = pick(types)
                return part(
                    ["(", " in (", ",", "))"], [value(type, place, depth - 1), literal(type), literal(type)])
            case 5, 6: if let lambda = lambda(place, depth) { return lambda }
            case 7:
                return part(
                    ["(", " \(pick(["eq", "ne"])) ", ")"], [condition(place, depth - 1), condition(place, depth - 1)])
            case 8 where place.set == "As":
                let path = "\(place.prefix)\(pick(["Bs", "Links", "Tags", "Nums"]))/$count"
                return part(["(\(path) \(pick(["eq", "gt", "le"])) ", ")"], [literal(.int32)])
            case 9 where place.set == "As":
                let name = pick(["hassubset", "hassubsequence"])
                return part(["\(name)(\(place.prefix)Tags,[\"a\"\(chance(50) ? ",\"\"" : "")])"], [])
            case 10 where place.values[.boolean] != nil: return Piece("bool", pick(place.values[.boolean] ?? []))
            case 11 where place.set == "As":
                return Piece("bool", pick(["isof(S.AX)", "isdefined(S.AX/X)"]))
            default: break
            }
        }
        let type = pick(types)
        let ops = type == .guid || type == .boolean ? ["eq", "ne"] : ["eq", "ne", "lt", "le", "gt", "ge"]
        let right = chance(10) ? Piece(type.rawValue, "null") : value(type, place, depth - 1)
        return part(["(", " \(pick(ops)) ", ")"], [value(type, place, depth - 1), right])
    }

    /// Returns a test of a node in the hierarchy of `As`.
    private mutating func hierarchyTest(_ place: Place) -> Piece {
        let paths =
            place.set == "As"
            ? ["ID", "NextID", "Next/ID", "Place/Code"] : place.set == "Bs" ? ["AID", "A/ID", "A/NextID"] : []
        func node(_ literals: [String]) -> String {
            pick(paths.map { place.prefix + $0 } + (paths.isEmpty || chance(50) ? literals : []))
        }
        let kind = pick(["isnode", "isroot", "isleaf", "issibling", "isdescendant", "isancestor"])
        var text = "Aggregation.\(kind)(HierarchyNodes=$root/As,HierarchyQualifier='H',Node=\(node(["1", "3"]))"
        switch kind {
        case "issibling": text += ",Other=\(node(["1", "2", "3"]))"
        case "isdescendant", "isancestor":
            text += ",\(kind == "isancestor" ? "Descendant" : "Ancestor")=\(node(["1", "2", "4", "null"]))"
            if chance(40) { text += ",MaxDistance=\(pick(["1", "2"]))" }
            if chance(40) { text += ",IncludeSelf=\(pick(["true", "false"]))" }
        default: break
        }
        return Piece("bool", text + ")")
    }

    private mutating func lambda(_ place: Place, _ depth: Int) -> Piece? {
        guard place.set == "As" else { return nil }
        lambdas += 1
        let name = "x\(lambdas)"
        let path = pick(["Bs", "Links", "Tags", "Nums"])
        var inner: Place
        switch path {
        case "Tags": inner = Place(values: [.string: [name]])
        case "Nums": inner = Place(values: [.int32: [name]])
        default:
            inner = self.place("Bs", "\(name)/")
            // The inner expression can refer to the outer instance.
            if place.prefix.isEmpty { inner.values[.int32, default: []].append("ID") }
        }
        return Piece(
            "bool", ["\(place.prefix)\(path)/\(pick(["any", "all"]))(\(name):", ")"], [condition(inner, depth - 1)],
            simplest: "true")
    }

    // MARK: Requests

    mutating func request() -> RandomRequest {
        lambdas = 0
        let set = pick(["As", "Bs"])
        if chance(35) { return aggregation(set) }
        var request = RandomRequest(set: set, options: [], isOrdered: true)
        var place = place(set)
        if chance(20) {
            let type = pick([PrimitiveType.int32, .decimal, .string])
            request.options.append(
                ("$compute", Piece("option", ["", " as Z"], [value(type, place, 2)], simplest: nil)))
            place.values[type, default: []].append("Z")
        }
        if chance(70) { request.options.append(("$filter", condition(place, 3))) }
        if chance(50) { request.options.append(("$orderby", order(place))) }
        if chance(25) { request.options.append(("$top", Piece("number", pick(["1", "2", "5"])))) }
        if chance(20) { request.options.append(("$skip", Piece("number", pick(["1", "2"])))) }
        if chance(10) { request.options.append(("$count", Piece("flag", "true"))) }
        if chance(7) {
            request.options.append(("$search", Piece("search", pick(["a", "ab", "NOT a", "c OR b", "\"äß c\""]))))
        }
        let isComputed = request.options.contains { $0.name == "$compute" }
        if chance(30) || isComputed {
            let names = ["ID"] + (sample.columns[set] ?? []).map(\.name).filter { _ in chance(50) }
            let more = set == "As" && chance(30) ? ["Tags", "Place/City"] : []
            request.options.append(
                ("$select", Piece("select", (names + more + (isComputed ? ["Z"] : [])).joined(separator: ","))))
        }
        outermost = set == "As" ? "Place/City" : "A/NextID"
        if chance(30) { request.options.append(("$expand", expand(set, 2))) }
        return request
    }

    mutating func order(_ place: Place) -> Piece {
        let types = place.values.keys.filter { $0 != .boolean || true }.sorted { $0.rawValue < $1.rawValue }
        func item() -> Piece {
            Piece("order", ["", pick(["", " desc"])], [value(pick(types), place, 1)], simplest: "ID")
        }
        return chance(50) ? item() : Piece("order", ["", ",", ""], [item(), item()], simplest: "ID")
    }

    private mutating func expand(_ set: String, _ depth: Int) -> Piece {
        let name = set == "As" ? pick(["Bs", "Links", "Next", "Place/Top"]) : "A"
        let target = name == "Bs" || name == "Links" ? "Bs" : "As"
        var texts = ["\(name)("]
        var parts: [Piece] = []
        func add(_ option: String, _ piece: Piece) {
            texts[texts.count - 1] += "\(parts.isEmpty ? "" : ";")\(option)="
            parts.append(piece)
            texts.append("")
        }
        let inner = place(target)
        let isCollection = name == "Bs" || name == "Links"
        if isCollection, chance(10) { return Piece("expand", "\(name)/$count") }
        if isCollection, chance(depth == 2 ? 10 : 30) {
            add("$filter", Piece("bool", pick(["AID eq $it/ID", "ID ge $it/ID", "$it/\(outermost) eq null"])))
        } else if isCollection, chance(50) {
            add("$filter", condition(inner, 2))
        }
        if isCollection, chance(50) { add("$orderby", order(inner)) }
        if isCollection, chance(30) { add("$top", Piece("number", "2")) }
        if isCollection, chance(20) { add("$skip", Piece("number", "1")) }
        if isCollection, chance(20) { add("$count", Piece("flag", "true")) }
        if isCollection, chance(10) { add("$search", Piece("search", pick(["a", "NOT b", "äß OR c"]))) }
        if chance(15) {
            add("$compute", Piece("option", ["", " as Y"], [value(.int32, inner, 1)]))
            add("$select", Piece("select", "ID,Y"))
        } else if chance(20) {
            add("$select", Piece("select", "ID"))
        }
        if name == "Next", chance(30) { add("$levels", Piece("levels", pick(["1", "2", "3", "max"]))) }
        if depth > 0, chance(30) { add("$expand", expand(target, depth - 1)) }
        if parts.isEmpty { return Piece("expand", name) }
        texts[texts.count - 1] += ")"
        return Piece("expand", texts, parts, simplest: name)
    }
}
