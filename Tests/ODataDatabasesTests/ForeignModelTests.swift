import Foundation
import ODataModel
import Testing

@testable import ODataDatabases

@Suite("A foreign database's model")
struct ForeignModelTests {
    private func type(_ model: ForeignModel, _ set: String, _ property: String) -> String? {
        model.model.shape(ofSet: set)?.property(property)?.type.description
    }

    @Test("Northwind is served whole, with readable names and without warnings about its values")
    func northwind() throws {
        guard let fixture = try ForeignFixture(northwind: ()) else { return }
        let foreign = try fixture.model()
        let model = foreign.model
        #expect(model.container.entitySets.count == 13)
        #expect(foreign.warnings == [])
        let details = try #require(model.shape(ofSet: "Order_Details"))
        #expect(details.name.name == "Order_Detail")
        #expect(details.annotations.annotation(ForeignModel.originalNameTerm)?.value?.string == "Order Details")
        #expect(details.key.map(\.name) == ["OrderID", "ProductID"])
        #expect(details.navigationProperties.map(\.name) == ["Order", "Product"])
        #expect(type(foreign, "Orders", "OrderDate") == "Edm.DateTimeOffset")
        #expect(model.shape(ofSet: "Orders")?.property("OrderDate")?.facets.precision == 3)
        #expect(type(foreign, "Employees", "BirthDate") == "Edm.Date")
        #expect(type(foreign, "Products", "UnitPrice") == "Edm.Decimal")
        #expect(type(foreign, "Categories", "Picture") == "Edm.Binary")
        #expect(type(foreign, "Order_Details", "Discount") == "Edm.Double")
        #expect(model.shape(ofSet: "Products")?.property("Discontinued")?.defaultValue == "0")
        let employee = try #require(model.shape(ofSet: "Employees"))
        let boss = try #require(employee.navigationProperty("ReportsToEmployee"))
        #expect(boss.partner == "Employees" && boss.isNullable && !boss.isCollection)
        #expect(boss.constraints == [ReferentialConstraint(property: "ReportsTo", referencedProperty: "EmployeeID")])
        #expect(employee.navigationProperty("Employees")?.isCollection == true)
        #expect(model.shape(ofSet: "Customers")?.property("CustomerID")?.isNullable == false)
        #expect(foreign.functions.count == 16)
        #expect(
            foreign.functions["Current_Product_List"]?.shape.properties.map(\.name) == ["ProductID", "ProductName"])
    }

    @Test("rule 28: a view becomes an entity set when its key is given")
    func viewKeys() throws {
        guard let fixture = try ForeignFixture(northwind: ()) else { return }
        var options = ForeignModel.Options()
        options.viewKeys = ["Current Product List": ["ProductID"]]
        let foreign = try fixture.model(options)
        let table = try #require(foreign.mapping.tables["Current_Product_List"])
        #expect(table.isReadOnly && table.rowID == nil)
        #expect(foreign.functions["Current_Product_List"] == nil)
        options.viewKeys = ["Nothing": ["A"]]
        #expect(throws: ForeignDatabaseError.self) { try fixture.model(options) }
        options.viewKeys = ["Current Product List": ["Nothing"]]
        #expect(throws: ForeignDatabaseError.self) { try fixture.model(options) }
    }

    @Test("rule 28: a column with values that do not parse as declared gets a wider type, with a warning")
    func wideTypes() throws {
        let fixture = try ForeignFixture(
            """
            CREATE TABLE odd (id INTEGER PRIMARY KEY, day DATE, at DATETIME, n INTEGER, x INTEGER, price DECIMAL(6,2),
              fine DECIMAL(6,2), flag BOOLEAN, loud BOOLEAN, guid UUID, stamp TIMESTAMP, ms TIMESTAMP, open TIME,
              any_thing, name VARCHAR(3), both BLOB);
            INSERT INTO odd VALUES (1, '2020-01-02', '2020-01-02 10:00:00', 1, 1, 1.25, 1.25, 0, 'yes',
              '01234567-89ab-cdef-0123-456789abcdef', 1577836800, 1577836800123, '10:00', 7, 'long', 'text');
            INSERT INTO odd VALUES (2, 'soon', '2020-01-02T10:00:00Z', 'many', 1.5, 99999, 1, 1, 'no', NULL, 0, 5,
              '11:30:00', 8, 'abc', x'FF00FE');
            """)
        let foreign = try fixture.model()
        let expected = [
            "day": "Edm.String", "at": "Edm.String", "n": "Edm.String", "x": "Edm.Double", "price": "Edm.Decimal",
            "fine": "Edm.Decimal", "flag": "Edm.Boolean", "loud": "Edm.String", "guid": "Edm.Guid",
            "stamp": "Edm.DateTimeOffset", "ms": "Edm.DateTimeOffset", "open": "Edm.TimeOfDay",
            "any_thing": "Edm.Int64", "name": "Edm.String",
        ]
        for (property, name) in expected { #expect(type(foreign, "odd", property) == name, "\(property)") }
        let shape = try #require(foreign.model.shape(ofSet: "odd"))
        #expect(shape.property("both") == nil)
        #expect(shape.property("fine")?.facets == Facets(scale: .variable))
        #expect(shape.property("price")?.facets == Facets(scale: .variable))
        #expect(shape.property("name")?.facets.maxLength == nil)
        if case .column(let column)? = foreign.mapping.tables["odd"]?.properties[11] {
            #expect(column.codec == .unixTime(unitsPerSecond: 1000))
        }
        for column in ["day", "at", "n", "x", "loud", "name", "both"] {
            #expect(foreign.warnings.contains { $0.contains("odd.\(column)") }, "\(column)")
        }
        #expect(foreign.warnings.count == 7)
    }

    @Test("Names become distinct identifiers and keep the originals")
    func names() throws {
        let fixture = try ForeignFixture(
            """
            CREATE TABLE "my table" (id INTEGER PRIMARY KEY, "1st" TEXT, "a-b" TEXT, "a b" TEXT, "a_b" TEXT, "§" TEXT);
            CREATE TABLE my_table (id INTEGER PRIMARY KEY);
            CREATE TABLE Größe (id INTEGER PRIMARY KEY);
            CREATE TABLE Box (id INTEGER PRIMARY KEY);
            CREATE TABLE Boxes (id INTEGER PRIMARY KEY);
            """)
        let foreign = try fixture.model()
        #expect(foreign.mapping.tables["my_table"]?.table == "my_table")
        #expect(foreign.mapping.tables["my_table_2"]?.table == "my table")
        #expect(
            foreign.model.shape(ofSet: "my_table_2")?.properties.map(\.name) == [
                "id", "_1st", "a_b_2", "a_b_3", "a_b", "Unnamed",
            ])
        #expect(foreign.model.entitySet("Größe") != nil)
        #expect(foreign.model.entitySet("Boxes")?.type.name == "Boxes")
        #expect(
            ["Categories", "Order_Details", "Status", "Addresses", "Boxes", "Caches", "Movies", "USERS", "Analysis"]
                .map { ForeignNames.singular($0) ?? "-" } == [
                    "Category", "Order_Detail", "-", "Address", "Box", "-", "Movie", "-", "-",
                ])
    }

    @Test("Keys: rowid aliases may be omitted, tables without a key have _rowid, WITHOUT ROWID tables do not")
    func keys() throws {
        let fixture = try ForeignFixture(
            """
            CREATE TABLE alias (id INTEGER PRIMARY KEY, made TEXT GENERATED ALWAYS AS (id || 'x'),
              at TEXT DEFAULT CURRENT_TIMESTAMP, n INTEGER NOT NULL DEFAULT 5);
            CREATE TABLE keyless (a TEXT, rowid TEXT);
            CREATE TABLE pair (a TEXT, b INTEGER, PRIMARY KEY (b, a)) WITHOUT ROWID;
            CREATE TABLE nulls (a TEXT PRIMARY KEY);
            INSERT INTO nulls VALUES (NULL);
            CREATE VIRTUAL TABLE words USING fts5(body);
            """)
        let foreign = try fixture.model()
        let alias = try #require(foreign.mapping.tables["alias"])
        #expect(alias.rowID == "id" && alias.columns[0].isGenerated)
        let shape = alias.shape
        #expect(shape.property("id")?.hasComputedDefault == true && shape.property("id")?.isComputed == false)
        #expect(shape.property("made")?.isComputed == true)
        #expect(shape.property("at")?.hasComputedDefault == true && shape.property("at")?.defaultValue == nil)
        #expect(shape.property("n")?.defaultValue == "5" && shape.property("n")?.isNullable == false)
        #expect(foreign.mapping.tables["keyless"]?.rowID == "_rowid_")
        #expect(foreign.model.shape(ofSet: "keyless")?.key.map(\.name) == ["_rowid"])
        #expect(foreign.model.shape(ofSet: "nulls")?.key.map(\.name) == ["_rowid"])
        let pair = try #require(foreign.mapping.tables["pair"])
        #expect(pair.rowID == nil && pair.shape.key.map(\.name) == ["b", "a"])
        #expect(foreign.model.entitySet("words") == nil && foreign.model.container.entitySets.count == 4)
        #expect(foreign.warnings.contains { $0.contains("virtual table words") })
    }

    @Test("Foreign keys: several to one table, composite, one to one, implicit, broken")
    func relations() throws {
        let fixture = try ForeignFixture(
            """
            CREATE TABLE Address (id INTEGER PRIMARY KEY);
            CREATE TABLE Orders (id INTEGER PRIMARY KEY, BillToID INTEGER NOT NULL REFERENCES Address,
              ShipToID INTEGER REFERENCES address(ID) ON DELETE CASCADE, ghost INTEGER REFERENCES nowhere(id));
            CREATE TABLE Items (a INTEGER, b INTEGER, PRIMARY KEY (a, b));
            CREATE TABLE Notes (x INTEGER, y INTEGER, FOREIGN KEY (x, y) REFERENCES Items);
            CREATE TABLE Extra (id INTEGER PRIMARY KEY REFERENCES Orders(id));
            """)
        let foreign = try fixture.model()
        let order = try #require(foreign.model.shape(ofSet: "Orders"))
        #expect(order.navigationProperties.map(\.name) == ["Extra", "BillTo", "ShipTo"])
        #expect(order.navigationProperty("BillTo")?.isNullable == false)
        #expect(order.navigationProperty("Extra")?.isCollection == false)
        let address = try #require(foreign.model.shape(ofSet: "Address"))
        #expect(address.navigationProperties.map(\.name) == ["Orders_BillTo", "Orders_ShipTo"])
        #expect(address.navigationProperty("Orders_ShipTo")?.onDelete == .cascade)
        #expect(foreign.model.shape(ofSet: "Notes")?.navigationProperty("Item")?.constraints.count == 2)
        #expect(foreign.warnings.contains { $0.contains("Orders.ghost") })
        guard case .join(_, let pairs)? = foreign.mapping.tables["Notes"]?.navigation["Item"] else {
            Issue.record("no join")
            return
        }
        #expect(pairs == [.init(source: "x", target: "a"), .init(source: "y", target: "b")])
    }
}
