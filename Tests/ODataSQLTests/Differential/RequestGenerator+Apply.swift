import ODataModel

@testable import ODataSQL

/// Random `$apply` options: sequences of transformations, each applied to the previous result.
extension RequestGenerator {
    mutating func aggregation(_ set: String) -> RandomRequest {
        var request = RandomRequest(set: set, options: [], isOrdered: false)
        var place = place(set)
        var steps: [Piece] = []
        for _ in 0..<Int.random(in: 1...3, using: &random) { steps.append(transformation(&place)) }
        request.options.append(("$apply", Self.sequence(steps)))
        if chance(20), !place.values.isEmpty { request.options.append(("$filter", condition(place, 2))) }
        return request
    }

    private static func sequence(_ steps: [Piece]) -> Piece {
        Piece("sequence", [""] + steps.indices.dropLast().map { _ in "/" } + [""], steps, simplest: "identity")
    }

    private mutating func transformation(_ place: inout Place) -> Piece {
        func step(_ texts: [String], _ parts: [Piece]) -> Piece { Piece("step", texts, parts, simplest: "identity") }
        if place.values.isEmpty { return Piece("step", "identity") }
        switch Int.random(in: 0..<20, using: &random) {
        case 12 where place.set == "As" && place.prefix.isEmpty:
            lambdas += 1
            let name = "J\(lambdas)"
            let then = chance(50) ? related("Bs") : []
            place.values[.int32, default: []].append("\(name)/ID")
            let head = "\(pick(["join", "outerjoin"]))(\(pick(["Bs", "Links"])) as \(name)"
            return then.isEmpty ? Piece("step", head + ")") : step([head + ",", ")"], [Self.sequence(then)])
        case 13 where place.set != nil:
            lambdas += 1
            var inner = place
            let sequence = nested(&inner)
            let name = "N\(lambdas)"
            place = Place(values: [:])
            return step(["nest(", " as \(name),filter(ID ge 2) as \(name)b)"], [sequence])
        case 14 where place.set == "As" && place.prefix.isEmpty:
            lambdas += 1
            let name = "N\(lambdas)"
            var inner = self.place("Bs")
            return step(["addnested(\(pick(["Bs", "Links"])),", " as \(name))"], [nested(&inner)])
        case 15 where place.set != nil:
            return Piece("step", relatives(place))
        case 16 where place.set != nil:
            let order = chance(50) ? ",\(pick(["ID desc", "ID"]))" : ""
            let isPlain = place.set != "As" || !place.prefix.isEmpty || chance(70)
            let path = isPlain ? node(place) : pick(["Nums", "Bs/AID", "Links/A/ID"])
            if !isPlain { place = Place(values: [.int32: ["ID"]]) }
            return Piece("step", "traverse($root/As,H,\(path),\(pick(["preorder", "postorder"]))\(order))")
        case 17 where place.set != nil: return rollUp(&place)
        case 18 where place.set != nil:
            var inner = place
            let last = aggregate(&inner)
            let path = place.set == "As" ? "Next" : "A"
            place = inner
            return step(["groupby((\(path)),", ")"], [last])
        case 19 where place.set != nil:
            return Piece("step", "search(\(pick(["a", "NOT b", "c OR b"])))")
        case 0, 1: return step(["filter(", ")"], [condition(place, 2)])
        case 2 where place.set != nil:
            let type = pick([PrimitiveType.int32, .decimal])
            lambdas += 1
            let name = "C\(lambdas)"
            let piece = step(["compute(", " as \(name))"], [value(type, place, 2)])
            place.values[type, default: []].append(name)
            return piece
        case 3 where place.set != nil:
            let name = pick(["topcount", "bottomcount"])
            return step(
                ["\(name)(\(pick(["1", "2", "3"])),", ")"], [value(pick([.int32, .decimal, .string]), place, 1)])
        case 4 where place.set != nil:
            let name = pick(["topsum", "bottomsum", "toppercent", "bottompercent"])
            return step(["\(name)(\(pick(["5", "20", "50"])),", ")"], [value(pick([.int32, .decimal]), place, 1)])
        case 5 where place.set != nil:
            return step(["orderby(", ")/\(pick(["top", "skip"]))(\(pick(["1", "2", "3"])))"], [order(place)])
        case 6: return aggregate(&place)
        case 7 where place.set != nil:
            // The result of `concat` has the values of both sequences. Values of only one sequence are null in the
            // rows of the other.
            var inner = place
            var other = place
            let piece: Piece
            if place.set == "As", place.prefix.isEmpty, chance(40) {
                lambdas += 1
                let join = "\(pick(["join", "outerjoin"]))(\(pick(["Bs", "Links"])) as J\(lambdas))"
                piece = step(
                    ["concat(\(join),", ")"], [chance(50) ? Piece("step", "filter(ID ge 2)") : aggregate(&inner)])
            } else if chance(60) {
                piece = step(["concat(identity,", ")"], [aggregate(&inner)])
            } else {
                piece = step(["concat(", ",", ")"], [aggregate(&inner), groupBy(&other)])
            }
            place = Place(values: [:])
            return piece
        default: break
        }
        guard place.set != nil else { return step(["filter(", ")"], [condition(place, 1)]) }
        return groupBy(&place)
    }

    /// Returns the path from a row to its node in the hierarchy of `As`.
    private mutating func node(_ place: Place) -> String { place.set == "As" ? "ID" : pick(["A/ID", "AID"]) }

    /// Returns `groupby` with one or two `rolluprecursive`. Names that start with the path of a node then refer to
    /// the node.
    private mutating func rollUp(_ place: inout Place) -> Piece {
        func operand(_ path: String) -> String {
            let kept = chance(50) ? ",keep start" : ""
            let restriction = pick([
                "", "", ",descendants($root/As,H,ID,filter(ID le 2)\(kept))",
                ",ancestors($root/As,H,ID,filter(ID ge 3)\(kept))",
                ",filter(ID ge 2)", ",traverse($root/As,H,ID,postorder)",
            ])
            return "rolluprecursive($root/As,H,\(path)\(restriction))"
        }
        let path = node(place)
        let second = chance(20) ? place.set == "As" ? ",\(operand("NextID"))" : ",\(operand(node(place)))" : ""
        let other =
            place.set == "As"
            ? pick(["", "", ",Place/City", ",Kind", ",rollup(Kind,NextID)"]) : pick(["", ",AID", ",rollup(AID,ID)"])
        var inner = place
        let then: Piece
        if chance(15) {
            then = Piece("step", ["filter(", ")"], [condition(place, 1)], simplest: "identity")
            inner.values = [:]
            inner.set = nil
        } else {
            let node = place.set == "As" ? "$it" : "A"
            let sum =
                chance(25) && node == "A"
                ? "compute(case(\(node) eq Aggregation.rollupnode():ID) as O\(lambdas))/" : ""
            let last = aggregate(&inner)
            then = Piece("step", [sum, ""], [last], simplest: "aggregate($count as R)")
        }
        let isOwn = path == "ID" && second.isEmpty
        let values = inner.values
        // Later steps that rank or limit rows need a determined order, which requires one row for each node.
        let isOrdered = isOwn && other.isEmpty && !values.isEmpty
        place = isOrdered && chance(50) ? self.place("As") : Place(values: [:])
        place.values.merge(values) { $0 + $1 }
        if !isOwn, second.isEmpty { place.values[.int32, default: []].append(path) }
        return Piece("step", ["groupby((\(operand(path))\(second)\(other)),", ")"], [then], simplest: "identity")
    }

    private mutating func relatives(_ place: Place) -> String {
        let start = pick(["filter(ID le 2)", "filter(ID ge 3)", "identity", "topcount(1,ID)"])
        let distance = chance(50) ? ",\(pick(["1", "2"]))" : ""
        let kept = chance(50) ? ",keep start" : ""
        // A row may have several nodes.
        let path =
            place.set == "As" && chance(30) ? pick(["Nums", "Bs/AID", "Links/A/ID", "Bs/A/Next/ID"]) : node(place)
        return "\(pick(["ancestors", "descendants"]))($root/As,H,\(path),\(start)\(distance)\(kept))"
    }

    /// Returns transformations of the rows that a join adds.
    private mutating func related(_ set: String) -> [Piece] {
        let inner = place(set)
        let step = Piece("step", ["filter(", ")"], [condition(inner, 1)], simplest: "identity")
        return [step] + (chance(40) ? [Piece("step", "topcount(1,ID)")] : [])
    }

    /// Returns the transformations of a nested collection.
    private mutating func nested(_ place: inout Place) -> Piece {
        let steps: [Piece]
        switch Int.random(in: 0..<5, using: &random) {
        case 3 where place.set == "As":
            lambdas += 1
            steps = [Piece("step", "\(pick(["join", "outerjoin"]))(Bs as J\(lambdas))")]
        case 4:
            var inner = place
            steps = [Piece("step", ["concat(topcount(1,ID),", ")"], [aggregate(&inner)], simplest: "identity")]
        case 0: steps = [Piece("step", ["filter(", ")"], [condition(place, 1)], simplest: "identity")]
        case 1: steps = [Piece("step", "topcount(2,ID)"), Piece("step", "compute(ID add 1 as Q)")]
        default: steps = [aggregate(&place)]
        }
        return Self.sequence(steps)
    }

    private mutating func groupBy(_ place: inout Place) -> Piece {
        var chosen: [(String, PrimitiveType)] = []
        let types = place.values.keys.sorted { $0.rawValue < $1.rawValue }
        for _ in 0..<Int.random(in: 1...2, using: &random) {
            let type = pick(types)
            let path = pick(place.values[type] ?? ["ID"])
            // Computed values may have a cast in their path, but grouping requires plain paths.
            guard !path.contains("S.AX"), !chosen.contains(where: { $0.0 == path }) else { continue }
            chosen.append((path, type))
        }
        if chosen.isEmpty { chosen = [("ID", .int32)] }
        let paths = chosen.map(\.0)
        let isRollup = chosen.count == 2 && chance(30)
        let list = isRollup ? "rollup(\(paths.joined(separator: ",")))" : paths.joined(separator: ",")
        var inner = place
        let before: [Piece] =
            switch Int.random(in: 0..<10, using: &random) {
            case 0...2: [Piece("step", ["filter(", ")"], [condition(place, 1)], simplest: "identity")]
            case 3: [Piece("step", relatives(place))]
            case 4: [Piece("step", "traverse($root/As,H,\(node(place)),preorder)/top(2)")]
            default: []
            }
        let piece: Piece
        if chance(15) {
            piece = Piece("step", "groupby((\(list)))")
            inner.values = [:]
        } else {
            let last = aggregate(&inner)
            piece = Piece(
                "step", ["groupby((\(list)),", "))"],
                [Self.sequence(before + [last])].map { $0 }, simplest: "groupby((\(list)))")
        }
        place = Place(values: inner.values)
        for (path, type) in chosen { place.values[type, default: []].append(path) }
        var result = piece
        if result.texts.count > 1 { result.texts[1] = ")" }
        return result
    }

    private mutating func aggregate(_ place: inout Place) -> Piece {
        var texts = ["aggregate("]
        var parts: [Piece] = []
        var result = Place()
        for index in 0..<Int.random(in: 1...2, using: &random) {
            lambdas += 1
            let name = "R\(lambdas)"
            if index > 0 { texts[texts.count - 1] += "," }
            switch Int.random(in: 0..<7, using: &random) {
            case 0:
                texts[texts.count - 1] += "$count as \(name)"
                result.values[.decimal, default: []].append(name)
            case 1 where place.set == "As" && place.prefix.isEmpty && place.values[.int64]?.isEmpty != false:
                let isCount = Bool.random(using: &random)
                texts[texts.count - 1] += isCount ? "Bs/$count as \(name)" : "Bs/ID with sum as \(name)"
                result.values[isCount ? .decimal : .int64, default: []].append(name)
            case 2:
                parts.append(value(pick([.int32, .string, .decimal]), place, 1))
                texts.append(" with countdistinct as \(name)")
                result.values[.decimal, default: []].append(name)
            case 3, 4:
                let type = pick([PrimitiveType.decimal, .string, .int32])
                parts.append(value(type, place, 1))
                texts.append(" with \(pick(["min", "max"])) as \(name)")
                result.values[type, default: []].append(name)
            default:
                let type = pick([PrimitiveType.decimal, .int32, .double])
                let method = pick(["sum", "average"])
                parts.append(value(type, place, 1))
                texts.append(" with \(method) as \(name)")
                let made: PrimitiveType = type == .int32 ? (method == "sum" ? .int64 : .decimal) : type
                result.values[made, default: []].append(name)
            }
        }
        texts[texts.count - 1] += ")"
        place = result
        return Piece("step", texts, parts, simplest: "aggregate($count as R)")
    }
}
