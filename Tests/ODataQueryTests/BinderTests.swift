import ODataModel
import TestModels
import Testing

@testable import ODataQuery

@Suite("The binder makes types explicit")
struct BinderTests {
    let model: EntityDataModel

    init() throws { model = try ShopModel.make() }

    func filter(_ text: String, set: String = "Orders") throws -> BoundExpression {
        let shape = try #require(model.shape(ofSet: set))
        return try Binder(model: model).bind(CommonExpression(parsing: text), shape: shape, set: model.entitySet(set))
    }

    func error(_ text: String, set: String = "Orders") throws -> QueryError {
        try #require(throws: QueryError.self) { _ = try filter(text, set: set) }
    }

    @Test("A number gets the type of the property in its comparison")
    func constants() throws {
        guard case .binary(.greater, .path, let right, _) = try filter("Freight gt 50") else {
            Issue.record("no comparison")
            return
        }
        #expect(right == .constant(.decimal(ODataDecimal(50)), .primitive(.decimal)))
    }

    @Test("A promotion becomes an explicit cast")
    func promotion() throws {
        guard case .binary(.equal, let left, let right, _) = try filter("Pieces eq 1.5") else {
            Issue.record("no comparison")
            return
        }
        guard case .cast(.path(let path), let type) = left else {
            Issue.record("no cast")
            return
        }
        #expect(path.type == .primitive(.int16))
        #expect(type == .primitive(.decimal))
        #expect(right.type == .primitive(.decimal))
        guard case .binary(.less, .cast(_, .primitive(.double)), .path, _) = try filter("Freight lt Weight") else {
            Issue.record("a decimal compared with a double becomes a double")
            return
        }
    }

    @Test(
        "A cast constant becomes a constant of the type, or null",
        arguments: [
            ("cast('2020-02-29',Edm.Date)", "2020-02-29", .date), ("cast('2020-02-30',Edm.Date)", nil, .date),
            ("cast('-7',Edm.Int16)", "-7", .int16), ("cast('70000',Edm.Int16)", nil, .int16),
            ("cast('true',Edm.Boolean)", "true", .boolean), ("cast(5,Edm.String)", "5", .string),
            ("cast('x',Edm.Guid)", nil, .guid),
        ] as [(String, String?, PrimitiveType)])
    func castConstants(text: String, lexical: String?, type: PrimitiveType) throws {
        guard case .binary(.equal, let left, _, _) = try filter("\(text) eq null") else {
            Issue.record("no comparison")
            return
        }
        let value = try lexical.map { try ODataValue(lexical: $0, type: type) } ?? .null
        #expect(left == .constant(value, .primitive(type)))
    }

    @Test("Null gets the type of the other operand")
    func null() throws {
        guard case .binary(.notEqual, _, let right, _) = try filter("ShipCity ne null") else {
            Issue.record("no comparison")
            return
        }
        #expect(right == .constant(.null, .primitive(.string)))
        _ = try filter("Customer eq null")
        _ = try filter("Address ne null")
    }

    @Test(
        "Expressions of the standard are accepted",
        arguments: [
            "Style has Shop.Pattern'Red'", "Style has S.Pattern'Red,Striped'", "State eq 'Sent'",
            "State eq Shop.State'1'",
            "State in ('New','Sent')", "OrderID in (1,2,3)", "ShipCity in ['Bern']", "ShipCity in Tags",
            "not Paid", "not (Paid and contains(ShipCity,'B'))", "Items/any()", "Items/any(i:i/Quantity gt 3)",
            "Items/all(i:i/Product/Price gt $it/Freight)", "Items/any(i:i/Product/Name eq ShipCity)",
            "Items/$count gt 2", "Items/$count($filter=Quantity gt 1) eq 1", "Items/$filter(Quantity gt 1)/$count eq 1",
            "Items/$filter(Quantity gt 1)/any(i:i/UnitPrice lt 2)", "Tags/any(t:t eq 'x')",
            "Tags/any(t:startswith(t,'x'))",
            "Customer/Orders/any(o:o/Items/any(i:i/OrderID eq o/OrderID and i/Quantity gt Pieces))",
            "Customer/Address/City eq 'Bern'", "Address/Shop/Country eq 'CH'", "cast(Freight,Edm.String) eq '1'",
            "year(OrderDate) eq 2020", "date(OrderDate) eq 2020-01-01", "OrderDate gt 2020-01-01",
            "OrderDate add duration'P1D' lt now()", "OrderDate sub OrderDate gt duration'PT1H'", "Took eq 'PT1H'",
            "Placed sub Placed eq duration'P1D'", "Took mul 2 gt Took", "Freight mul Pieces div 3 gt 1e1",
            "Pieces divby 2 eq 1.5", "-Freight lt 0", "round(Freight) eq 3", "floor(Pieces) eq 3", "length(Tags) gt 2",
            "geo.distance(Where,geography'SRID=4326;Point(1 2)') lt 10", "geo.intersects(Where,Area)",
            "case(Paid:1,true:2.5) gt 1", "hassubset(Tags,['a','b'])", "Token eq 01234567-89ab-cdef-0123-456789abcdef",
            "Items/any(i:isof(i/Product,Shop.OldProduct))",
            "Items/any(i:i/Product/Shop.OldProduct/Ended lt 2020-01-01)",
            "$it/Freight gt 1", "$this/Freight gt 1", "substring(ShipCity,1,2) eq 'er'", "Total eq 5.0", "Ratio gt 0.5",
            "Opens lt 12:00", "hour(Opens) eq 3", "matchesPattern(ShipCity,'^B')", "Where ne null",
            "concat(concat(ShipCity,', '),CustomerID) eq 'x'", "Paid eq true", "Stops/any(s:s/City eq 'Bern')",
            "Freight gt null", "@a eq 1", "Freight in (null,1)",
        ])
    func accepted(text: String) throws {
        let bound = try filter(text)
        #expect(bound.type == .primitive(.boolean))
    }

    @Test(
        "Incompatible operands are refused with their place",
        arguments: [
            ("Freight eq 'x'", 0), ("ShipCity gt 5", 0), ("not Freight", 4), ("Paid and ShipCity", 9),
            ("tolower(Freight) eq 'x'", 8), ("year(ShipCity) eq 1", 5), ("substring(ShipCity) eq 'x'", 0),
            ("Style has 5", 0), ("Items eq null and Items/Quantity eq 1", 24), ("Freight/City eq 1", 8),
            ("length(5) eq 1", 7), ("Freight add ShipCity gt 1", 0), ("Freight in (1,'x')", 14), ("Scan lt Scan", 0),
            ("cast(Paid,Edm.Guid) eq null", 0), ("geo.length(Where) gt 1", 11), ("case(Freight:1) eq 1", 5),
        ])
    func refused(text: String, offset: Int) throws {
        let error = try error(text)
        #expect(error.kind == .type, "\(error)")
        if text.hasPrefix("cast") || text.hasPrefix("Items eq") { return }
        #expect(error.offset == offset, "\(error)")
    }

    @Test(
        "An expression that is invalid in its place is refused",
        arguments: ["Shop.Best(Rank=1) eq null", "{\"a\":1} eq {\"a\":1}"])
    func unsupported(text: String) throws {
        guard case .unsupported(let feature) = try error(text).kind else {
            Issue.record("\(text)")
            return
        }
        #expect(!feature.isEmpty)
    }

    @Test(
        "Keys, roots, annotations, collections and instances are resolved",
        arguments: [
            "$root/Orders(1)/Freight gt 1", "$root/Me/Name eq 'x'", "Items(OrderID=1,ProductID=2)/Quantity eq 1",
            "Items/aggregate(UnitPrice with sum) gt 1", "Items/$count($search=x) gt 1", "Customer eq Customer",
            "Tags eq ['a']", "contains(Tags,['a'])", "concat(Tags,['a']) eq Tags", "startswith(Tags,[ShipCity])",
            "isdefined(Customer)", "isof(Freight,Edm.Decimal)", "Freight/@Core.Unit eq 'EUR'",
            "@Core.Permissions ne null", "Address eq {\"City\":\"Bern\"}", "Where eq geography'SRID=4326;Point(1 2)'",
            "Items/$filter(Quantity gt 1)/any(i:i/UnitPrice gt 2)", "ShipCity in Tags", "[1,Pieces] eq [1,2]",
        ])
    func resolved(text: String) throws {
        #expect(try filter(text).type == .primitive(.boolean))
    }

    @Test("An unknown name is refused at its place with the nearest ones")
    func suggestions() throws {
        let property = try error("ShipCity eq 'x' and Frieght gt 5")
        #expect(property.kind == .unknownName)
        #expect(property.offset == 20)
        #expect(property.suggestions.first == "Freight")
        #expect(try error("Custmer/Country eq 'x'").suggestions == ["Customer"])
        #expect(try error("contain(ShipCity,'x')").suggestions.first == "contains")
        #expect(try error("State eq Shop.State'Snt'").suggestions == ["Sent"])
        #expect(try error("isof(Shop.Ordre)").suggestions.first == "Shop.Order")
    }

    @Test("A circle of aliases, and one that grows endlessly, is refused")
    func aliases() throws {
        let shape = try #require(model.shape(ofSet: "Orders"))
        var aliases: [String: CommonExpression] = ["a": .alias("b"), "b": .alias("a")]
        let circular = try #require(throws: QueryError.self) {
            try Binder(model: model).bind(.alias("a"), shape: shape, set: nil, aliases: aliases)
        }
        #expect(circular.message.contains("@a, @b, @a"))
        aliases = ["p0": .literal(Literal(1))]
        for index in 1..<40 {
            aliases["p\(index)"] = .binary(
                .add, .alias(Identifier("p\(index - 1)")), .alias(Identifier("p\(index - 1)")))
        }
        let growing = try #require(throws: QueryError.self) {
            try Binder(model: model).bind(.alias("p39"), shape: shape, set: nil, aliases: aliases)
        }
        #expect(growing.kind == .limit(name: "maxNodes"))
    }

    @Test("Range variables with the same name are distinguished")
    func variables() throws {
        let bound = try filter("Items/any(x:x/Order/Items/any(x:x/Quantity gt 1))")
        guard case .any(_, let outer, .any(let path, let inner, _)?) = bound else {
            Issue.record("no nested any")
            return
        }
        #expect(outer.identifier != inner.identifier)
        #expect(path.variable == outer)
        #expect(outer.shape?.name.name == "Item")
    }

    @Test("Navigation steps have their target set")
    func sets() throws {
        guard case .binary(_, .path(let path), _, _) = try filter("Customer/Country eq 'CH'"),
            case .navigation(_, _, let set)? = path.steps.first
        else {
            Issue.record("no path")
            return
        }
        #expect(set?.name == "Customers")
    }

    @Test("Undeclared properties of open types are dynamic")
    func dynamic() throws {
        guard case .binary(.equal, .path(let path), let right, _) = try filter("Colour eq 'red'", set: "Things") else {
            Issue.record("no comparison")
            return
        }
        #expect(path.steps == [.dynamic("Colour")])
        #expect(right.type == .primitive(.string))
    }
}
