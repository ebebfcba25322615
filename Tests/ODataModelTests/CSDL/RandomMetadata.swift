import TestCorpus

/// Creates random metadata documents in JSON, with all elements of the format in all allowed places.
struct RandomMetadata {
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    private mutating func pick<T>(_ items: [T]) -> T { items[Int.random(in: 0..<items.count, using: &generator)] }
    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }
    private mutating func some<T>(_ most: Int, _ make: (inout Self) -> T) -> [T] {
        (0..<Int.random(in: 0...most, using: &generator)).map { _ in make(&self) }
    }

    // MARK: Names

    /// Returns a name, which may contain letters that combine with neighbouring separators.
    private mutating func name() -> String { pick(["a", "b", "ID", "Ünì", "_p", "\u{FF9E}n", "n\u{0D4E}"]) }
    /// Returns a namespace of the document, or an alias; the last namespace has no alias.
    private mutating func prefix() -> String { pick(["S", "Z", "N.Sub", "\u{FF9E}Y", "Last"]) }
    private mutating func entity() -> String { "\(prefix()).\(pick(["E", "F"]))" }
    private mutating func type() -> String {
        chance(50)
            ? "\(prefix()).\(pick(["E", "F", "T", "En", "D"]))"
            : (chance(10) ? "" : "Edm.")
                + pick([
                    "String", "Int64", "Boolean", "Decimal", "Double", "Guid", "Date", "DateTimeOffset", "Duration",
                    "Binary", "Stream", "Untyped", "PropertyPath", "AnnotationPath", "GeographyPoint",
                ])
    }

    private mutating func term() -> String {
        let term =
            chance(30)
            ? "Org.OData." + pick(["Core.V1.Permissions", "Core.V1.Description", "Measures.V1.Unit", "Core.V1.Links"])
            : "\(chance(20) ? "Elsewhere" : prefix()).\(pick(["W", "V", "b"]))"
        return chance(30) ? "\(term)#\(pick(["q", "Q", "\u{FF9E}"]))" : term
    }

    private mutating func text() -> String {
        pick([
            "", "x", " x ", "x\\ty", "5", "1e5", "true", "INF", "2020-01-01", "P1D", "S.En/a", "a,b", "a b", "a/b",
            "S.F", "@S.W", "<&>", "\\\"", "\\u00a0", "Read", "Read,Write", "Z.b",
            "01234567-89ab-cdef-0123-456789abcdef",
        ])
    }

    private mutating func path() -> String {
        pick(["a", "a/b", "", "/S.C/Es", "@S.W", "a/@Z.W#q", "Z.T/a", "$count", "S.A(Edm.String)/a", "a/@\u{FF9E}Y.W"])
    }

    // MARK: Values

    private mutating func flag(_ name: String) -> [String] {
        chance(30) ? ["\"\(name)\":\(pick(["true", "false"]))"] : []
    }

    private mutating func typed() -> [String] {
        let type = type()
        var members = chance(25) ? [#""$Collection":true"#] : []
        if type != "Edm.String" || chance(30) { members.append(#""$Type":"\#(type)""#) }
        switch type {
        case "Edm.Decimal" where chance(60):
            members.append(#""$Scale":\#(pick(["0", "2", #""variable""#, #""floating""#])),"$Precision":9"#)
        case "Edm.String" where chance(40):
            members.append(pick([#""$MaxLength":5"#, #""$Unicode":false"#, #""$Unicode":"True""#]))
        case "Edm.DateTimeOffset" where chance(40): members.append(#""$Precision":\#(pick(["0", "7"]))"#)
        case "Edm.GeographyPoint" where chance(40): members.append(#""$SRID":\#(pick(["0", "4326", #""variable""#]))"#)
        default: break
        }
        return members
    }

    private mutating func annotations(_ depth: Int, on owner: String = "") -> [String] {
        some(depth > 0 ? 2 : 1) { random in
            let key = "\(owner)@\(random.term())"
            let own = "\"\(key)\":\(random.expression(depth - 1))"
            return random.chance(15) ? [own] + random.annotations(depth - 1, on: key) : [own]
        }.flatMap { $0 }
    }

    private mutating func object(_ members: [String], _ depth: Int) -> String {
        Self.object(members + (chance(30) ? annotations(depth - 1) : []))
    }

    /// Returns an object without duplicate members.
    private static func object(_ members: [String]) -> String {
        var names: Set<[UInt8]> = []
        // Names are compared by bytes, because the last letter of a name may combine with the following quote.
        let once = members.filter { member in
            names.insert(Array(member.utf8.dropFirst().prefix { $0 != UInt8(ascii: "\"") })).inserted
        }
        return "{\(once.joined(separator: ","))}"
    }

    private mutating func expression(_ depth: Int) -> String {
        guard depth > 0, chance(60) else {
            return switch Int.random(in: 0..<4, using: &generator) {
            case 0: pick(["true", "false", "0", "-5", "9223372036854775807", "1.50", "1e400", "-0.0", "null"])
            case 1: #"{"$Path":"\#(path())"}"#
            default: "\"\(text())\""
            }
        }
        let inner = expression(depth - 1)
        switch Int.random(in: 0..<9, using: &generator) {
        case 0: return "[\(some(3) { $0.expression(depth - 1) }.joined(separator: ","))]"
        case 1, 2:
            var members = chance(50) ? [#""@type":"\#(chance(50) ? "#" : "")\#(type())""#] : []
            members += some(3) { random in
                let name = random.name()
                let own = "\"\(name)\":\(random.expression(depth - 1))"
                return [own] + (random.chance(30) ? random.annotations(depth - 1, on: name) : [])
            }.flatMap { $0 }
            return object(members, depth)
        case 3:
            let operation = pick(["And", "Eq", "Has", "In", "Add", "DivBy"])
            return object(["\"$\(operation)\":[\(inner),\(expression(depth - 1))]"], depth)
        case 4: return object(["\"$\(pick(["Not", "Neg", "UrlRef"]))\":\(inner)"], depth)
        case 5: return object([#""$If":[true,\#(inner),\#(expression(depth - 1))]"#], depth)
        case 6: return object([#""$Apply":[\#(inner)],"$Function":"\#(pick(["odata.concat", "S.A"]))""#], depth)
        case 7: return object(["\"$\(pick(["Cast", "IsOf"]))\":\(inner)"] + typed(), depth)
        default:
            return chance(50)
                ? object([#""$LabeledElement":\#(inner),"$Name":"L""#], depth)
                : #"{"$LabeledElementReference":"\#(prefix()).L"}"#
        }
    }

    // MARK: Elements

    private mutating func property() -> String {
        var members = typed() + flag("$Nullable")
        if chance(20) { members.append(#""$DefaultValue":"\#(text())""#) }
        return Self.object(members + annotations(2))
    }

    private mutating func navigationProperty() -> String {
        var members = [#""$Kind":"NavigationProperty","$Type":"\#(entity())""#]
        members += flag("$Collection") + flag("$Nullable") + flag("$ContainsTarget")
        if chance(30) { members.append(#""$Partner":"a/b""#) }
        if chance(30) {
            members.append(#""$ReferentialConstraint":\#(Self.object([#""a":"b/c""#] + annotations(1, on: "a")))"#)
        }
        if chance(30) { members += [#""$OnDelete":"Cascade""#] + annotations(1, on: "$OnDelete") }
        return Self.object(members + annotations(2))
    }

    private mutating func structuredType(_ kind: String, _ base: String? = nil) -> String {
        var members = [#""$Kind":"\#(kind)""#] + flag("$Abstract") + flag("$OpenType")
        if let base { members.append(#""$BaseType":"\#(base)""#) }
        if kind == "EntityType", base == nil { members.append(#""$Key":["a",{"k":"b/a"}]"#) }
        members += some(3) { random in
            let value = random.chance(70) ? random.property() : random.navigationProperty()
            return "\"\(random.name())\":\(value)"
        }
        return Self.object(members + annotations(2))
    }

    private mutating func operation(_ kind: String) -> String {
        var members = [#""$Kind":"\#(kind)""#] + flag("$IsBound") + flag("$IsComposable")
        let parameters = ["a", "b"].prefix(Int.random(in: 0...2, using: &generator)).map { name in
            Self.object([#""$Name":"\#(name)""#] + typed() + flag("$Nullable") + annotations(1))
        }
        if !parameters.isEmpty { members.append(#""$Parameter":[\#(parameters.joined(separator: ","))]"#) }
        if chance(60) {
            members.append(#""$ReturnType":\#(Self.object(typed() + flag("$Nullable") + annotations(1)))"#)
        }
        return Self.object(members + annotations(1))
    }

    private mutating func container(_ prefix: String) -> String {
        let target = pick(["Es", "\(prefix).C/Es", "S.C/Es"])
        let bindings = #""$NavigationPropertyBinding":{"a":"\#(target)","S.E/b":"Es"}"#
        let sets = [
            #""Es":\#(Self.object([#""$Collection":true,"$Type":"\#(entity())",\#(bindings)"#] + annotations(1)))"#,
            #""Si":\#(Self.object([#""$Type":"\#(entity())""#] + flag("$Nullable") + annotations(1)))"#,
            #""Fi":\#(Self.object([#""$Function":"\#(self.prefix()).A","$EntitySet":"Es""#] + annotations(1)))"#,
        ]
        return Self.object([#""$Kind":"EntityContainer""#] + sets.filter { _ in chance(60) } + annotations(1))
    }

    private mutating func schema(_ namespace: String, _ alias: String?) -> String {
        let enumeration = [#""$Kind":"EnumType","a":0,"b":1,"\#u{FF9E}n":2"#] + annotations(1, on: "a") + annotations(1)
        let appliesTo = chance(20) ? [#""$AppliesTo":["Property"]"#] : []
        let term = [#""$Kind":"Term""#] + typed() + flag("$Nullable") + appliesTo
        var members = [
            #""E":\#(structuredType("EntityType"))"#,
            #""F":\#(structuredType("EntityType", "\(chance(50) ? namespace : alias ?? namespace).E"))"#,
            #""T":\#(structuredType("ComplexType"))"#, #""En":\#(Self.object(enumeration))"#,
            #""D":{"$Kind":"TypeDefinition","$UnderlyingType":"Edm.\#(pick(["Duration", "String", "Decimal"]))"}"#,
            #""W":\#(Self.object(term + annotations(1)))"#,
            #""A":[\#(operation("Function")),\#(operation("Action"))]"#, #""C":\#(container(alias ?? namespace))"#,
        ]
        members.shuffle(using: &generator)
        if let alias { members.insert(#""$Alias":"\#(alias)""#, at: 0) }
        let targets = ["T", "T/a", "E/b", "A", "A(Edm.String)", "A/a", "C/Es", "W", "T/@S.W"]
        members.append(#""$Annotations":{"\#(namespace).\#(pick(targets))":\#(Self.object(annotations(2)))}"#)
        return Self.object(members + annotations(2))
    }

    /// Returns a random document.
    mutating func document() -> String {
        let schemas = [("S", "Z"), ("N.Sub", "\u{FF9E}Y"), ("Last", nil)].map { namespace, alias in
            "\"\(namespace)\":\(schema(namespace, alias))"
        }
        let include = #"{"$Namespace":"Org.OData.Core.V1","$Alias":"\#(pick(["Core", "Z"]))"}"#
        let reference = #""$Reference":{"http://h/a.json":{"$Include":[\#(include),\#(include)]}}"#
        let version = #""$Version":"\#(pick(["4.0", "4.01"]))""#
        return Self.object([version] + (chance(50) ? [reference] : []) + schemas)
    }
}
