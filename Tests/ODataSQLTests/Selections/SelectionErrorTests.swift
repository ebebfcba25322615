import ODataModel
import ODataQuery
import Testing

@testable import ODataSQL

@Suite("Errors of dynamic queries")
struct SelectionErrorTests {
    private static let customers = Selection.from("Customers", as: "c").select("c.ID")
    private static let orders = Selection.from("Orders", as: "o").select("o.ID")

    static let faults: [(Selection, SelectionError.Kind, String)] = [
        (.from("Clients", as: "c"), .noSuchEntity("Clients"), "from"),
        (.from("Base", as: "c"), .abstractEntity("Base"), "from"),
        (.from("Secrets", as: "c"), .dynamicQueriesOff("Secrets"), "from"),
        (customers.join("Secret", as: "s"), .dynamicQueriesOff("Secret"), "join[0]"),
        (.from("Customers", as: "c d"), .invalidAlias("c d"), "from.as"),
        (customers.join("Orders", as: "c"), .duplicateAlias("c"), "join[0].as"),
        (customers.where(.attribute("x.ID", .isNull)), .noSuchAlias("x"), "where"),
        (customers.where(.all([.attribute("c.Nam", .isNull)])), .noSuchAttribute("c.Nam"), "where.all[0]"),
        (customers.where(.attribute("c.Tags", .isNull)), .noSuchAttribute("c.Tags"), "where"),
        (customers.where(.attribute("c.Place", .isNull)), .noSuchAttribute("c.Place"), "where"),
        (customers.where(.attribute("c.Orders/ID", .isNull)), .noSuchAttribute("c.Orders/ID"), "where"),
        (customers.join("Orders", as: "o").where(.attribute("ID", .isNull)), .ambiguousAttribute("ID"), "where"),
        (customers.where(.attribute("c.Photo", .isNull)), .largeAttributeInPredicate("c.Photo"), "where"),
        (customers.select("c.Photo"), .largeAttributeInPredicate("c.Photo"), "select[1]"),
        (customers.where(.state("isGone", of: "c")), .noSuchState("isGone"), "where"),
        (
            customers.where(.not(.attribute("c.ID", .equal, "many"))), .invalidType("many", expected: "Edm.Int32"),
            "where.not.value"
        ),
        (
            customers.where(.attribute("c.ID", .in, [1, "x"])), .invalidType("x", expected: "Edm.Int32"),
            "where.value[1]"
        ),
        (orders.select(.column(.sum("o.City"), as: "x")), .aggregateType("sum", type: "Edm.String"), "sum(o.City)"),
        (orders.groupBy("o.City").select("o.Day"), .notGrouped("o.ID"), "select[0]"),
        (customers.select(.column(QueryAttribute("c.City"), as: "ID")), .duplicateColumn("ID"), "select[1]"),
        (
            customers.where(.exists(orders.where(.attribute("o.Nope", .isNull)))), .noSuchAttribute("o.Nope"),
            "where.value.query.where"
        ),
        (customers.orderBy("Town"), .noSuchAttribute("Town"), "orderBy[0]"),
    ]

    @Test("Each fault has its own error with the place", arguments: faults.indices)
    func places(index: Int) throws {
        let (selection, kind, place) = Self.faults[index]
        let shop = try SelectionShop()
        let error = #expect(throws: SelectionError.self) { try shop.bind(selection) }
        #expect(error?.kind == kind)
        #expect(error?.place == place)
    }

    /// Queries that are refused with a message of their own, and the places.
    static let refused: [(Selection, String)] = [
        (customers.where(.attribute("c.ID", .equal, .value(.boolean(true)))), "where"),
        (customers.where(.attribute("c.ID", .like, "1%")), "where"),
        (customers.where(.attribute("c.Name", .like, .attribute("c.City"))), "where.value"),
        (customers.where(.attribute("c.Name", .exists)), "where"), (customers.where(.test(nil, .isNull, nil)), "where"),
        (customers.where(.attribute("c.Name", .in, "x")), "where.value"),
        (customers.where(.test(.count, .equal, 1)), "where"),
        (customers.select(.column(.aggregate(.sum, of: nil), as: "x")), "sum(*)"),
        (customers.select(.column(.value(.null), as: "x")), "select[1]"),
        (customers.select(.column(QueryOperand.list([]), as: "x")), "select[1]"),
        (customers.select(.column(.value(.integer(1)))), "select[1]"), (customers.skip(-1), "skip"),
        (customers.union(orders.select("o.Day")), "combine[0]"),
        (customers.union(.from("Orders", as: "o")), "combine[0]"),
        (customers.union(Selection.from("Orders", as: "o").select("o.Day")), "combine[0]"),
        (customers.distinct().orderBy(.operand(.attribute("c.Name"))), "orderBy[0]"),
        (Selection.from("Orders", as: "o").groupBy("o.City"), "select"),
        (
            customers.where(
                .exists(
                    Selection.from("Orders", as: "o").select(.column(.sum("c.ID"), as: "x")))),
            "where.value.query.sum(c.ID)"
        ),
    ]

    @Test("An invalid query is refused before it runs, with its place", arguments: refused.indices)
    func refusals(index: Int) throws {
        let (selection, place) = Self.refused[index]
        let shop = try SelectionShop()
        let error = #expect(throws: SelectionError.self) { try shop.bind(selection) }
        #expect(error?.place == place, "\(error.map(\.description) ?? "")")
    }

    @Test("An unknown name gets suggestions")
    func messages() throws {
        let shop = try SelectionShop()
        let error = try #require(
            #expect(throws: SelectionError.self) { try shop.bind(Self.customers.select("c.Citty")) })
        #expect(error.suggestions == ["City"])
        #expect(error.errorCode.rawValue == "query.unknown-name")
        #expect(error.description == "select[1]: There is no attribute c.Citty with a single value. Did you mean City?")
        #expect(error.errorArguments == ["reason": error.description])
        #expect(error.legacyName == "SUPNoSuchAttributeException")
    }

    @Test("Nested queries and conditions have a limit")
    func depth() throws {
        let shop = try SelectionShop()
        var test = QueryTest.attribute("c.ID", .isNull)
        for _ in 0..<200 { test = .not(test) }
        let error = #expect(throws: SelectionError.self) { try shop.bind(Self.customers.where(test)) }
        #expect(error?.kind == .limit("maxDepth"))
        var selection = Self.customers
        for _ in 0...SelectionLimits.maxSources { selection = selection.join("Orders", as: "o") }
        let wide = #expect(throws: SelectionError.self) { try shop.bind(selection) }
        #expect(wide?.kind == .limit("maxSources"))
    }
}
