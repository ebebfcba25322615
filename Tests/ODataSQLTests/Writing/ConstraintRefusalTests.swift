import GRDB
import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataSQL

@Suite("The constraints of a foreign database")
struct ConstraintRefusalTests {
    private let queue: DatabaseQueue
    private let writer: RowWriter
    private let mapping: StorageMapping

    /// Creates a database of books with a CHECK constraint, a foreign key, a unique title, and a table without row
    /// ids and versions.
    init() throws {
        queue = try DatabaseQueue()
        try queue.write {
            try $0.execute(
                sql: """
                    CREATE TABLE author (id INTEGER PRIMARY KEY);
                    CREATE TABLE "the book" (code TEXT PRIMARY KEY, pages INTEGER CHECK (pages > 0),
                      "the title" TEXT NOT NULL UNIQUE, author INTEGER REFERENCES author, made TEXT DEFAULT 'now')
                      WITHOUT ROWID;
                    CREATE TRIGGER guard BEFORE DELETE ON "the book" WHEN OLD.pages > 99
                      BEGIN SELECT RAISE(ABORT, 'thick books stay'); END;
                    INSERT INTO author VALUES (1);
                    """)
        }
        func name(_ name: String) -> QualifiedName { QualifiedName("Shelf", name) }
        let author = StructuredType(
            name: name("Author"), kind: .entity, key: [.init(path: "ID")],
            properties: [Property(name: "ID", type: .primitive(.int64), isNullable: false)])
        let book = StructuredType(
            name: name("Book"), kind: .entity, key: [.init(path: "Code")],
            properties: [
                Property(name: "Code", type: .primitive(.string), isNullable: false),
                Property(name: "Pages", type: .primitive(.int64)), Property(name: "Title", type: .primitive(.string)),
                Property(name: "AuthorID", type: .primitive(.int64)),
                Property(name: "Made", type: .primitive(.string)),
            ],
            navigationProperties: [
                NavigationProperty(
                    name: "Author", target: name("Author"), isCollection: false,
                    constraints: [ReferentialConstraint(property: "AuthorID", referencedProperty: "ID")])
            ])
        let model = try EntityDataModel(schemas: [
            ODataSchema(
                namespace: "Shelf", structuredTypes: [author, book],
                container: EntityContainer(
                    name: name("Container"),
                    entitySets: [
                        EntitySet(name: "Authors", type: name("Author")), EntitySet(name: "Books", type: name("Book")),
                    ]))
        ])
        func column(_ name: String, _ type: PrimitiveType, generated: Bool = false) -> PropertyStorage {
            .column(
                ColumnStorage(
                    name: name, type: .primitive(type), codec: type == .int64 ? .integer : .string,
                    isGenerated: generated))
        }
        mapping = StorageMapping(
            model: model,
            tables: [
                TableStorage(
                    set: "Authors", shape: try #require(model.shape(name("Author"))), table: "author", rowID: "rowid",
                    properties: [column("id", .int64, generated: true)], etag: .contentDigest),
                TableStorage(
                    set: "Books", shape: try #require(model.shape(name("Book"))), table: "the book", rowID: nil,
                    properties: [
                        column("code", .string), column("pages", .int64), column("the title", .string),
                        column("author", .int64), column("made", .string, generated: true),
                    ],
                    navigation: [
                        "Author": .join(target: "Authors", pairs: [.init(source: "author", target: "id")])
                    ], etag: .contentDigest),
            ])
        writer = RowWriter(mapping: mapping, hook: nil)
    }

    private func create(_ set: String, _ properties: [String: ODataValue]) throws -> RowWriter.WrittenRow {
        let entity = ODataEntity(shape: try #require(mapping.tables[set]).shape, properties)
        return try queue.write {
            try writer.create(entity, in: set, request: ODataRequest(.create, ODataURL()), database: $0)
        }
    }

    @discardableResult
    private func delete(_ set: String, _ key: EntityKey, ifMatch: String? = nil) throws -> Bool {
        try queue.write {
            try writer.delete(
                key: key, in: set, request: ODataRequest(.delete, ODataURL(), ifMatch: ifMatch), database: $0)
        }
        return true
    }

    private func refusal(_ body: () throws -> Void) -> ODataError? {
        do {
            try body()
            return nil
        } catch {
            return error as? ODataError
        }
    }

    private static let good: [String: ODataValue] = ["Code": "a", "Pages": 1, "Title": "A", "AuthorID": 1]

    @Test(
        "become errors that name the property",
        arguments: [
            ("Pages", ODataValue.integer(0), 400, "Pages"), ("Title", .null, 400, "Title"),
            ("AuthorID", .integer(9), 409, "Author"), ("Title", .string("taken"), 409, "Title"),
            ("Code", .string("taken"), 409, "Code"),
        ])
    func targets(property: String, value: ODataValue, status: Int, target: String) throws {
        _ = try create("Books", ["Code": "taken", "Title": "taken"])
        var properties = Self.good
        properties[property] = value
        let error = refusal { _ = try create("Books", properties) }
        #expect(error?.status == status)
        #expect(error?.target == target)
    }

    @Test("name set and key of a missing referenced entity")
    func references() throws {
        var properties = Self.good
        properties["AuthorID"] = .integer(9)
        let error = refusal { _ = try create("Books", properties) }
        #expect(error?.message == "Author leads to Authors(9), which does not exist.")
    }

    @Test("keep a referenced row and return the message of a trigger")
    func deletes() throws {
        _ = try create("Books", Self.good)
        let referred = refusal { try delete("Authors", EntityKey("ID", 1)) }
        #expect(referred?.status == 409)
        #expect(referred?.message == "Books has entities that refer to this one by Author.")
        _ = try create("Books", ["Code": "b", "Title": "B", "Pages": 500])
        let error = refusal { try delete("Books", EntityKey("Code", "b")) }
        #expect(error?.status == 400)
        #expect(error?.message.contains("thick books stay") == true)
    }

    @Test("keep database defaults, also in tables without row ids")
    func defaults() throws {
        let row = try create("Books", Self.good)
        #expect(row.rowID == nil)
        #expect(row.entity["Made"] == "now")
        #expect(row.id == "Books('a')")
        #expect(try create("Authors", [:]).entity["ID"] == 2)
    }

    @Test("An ETag of the row content changes with every change")
    func digests() throws {
        let first = try #require(try create("Books", Self.good).etag)
        try queue.write { try $0.execute(sql: "UPDATE \"the book\" SET made = 'later'") }
        #expect(refusal { try delete("Books", EntityKey("Code", "a"), ifMatch: first) }?.status == 412)
        let second = try #require(
            try queue.read { try writer.read(key: EntityKey("Code", "a"), in: "Books", database: $0) }?.etag)
        #expect(second != first)
        #expect(try delete("Books", EntityKey("Code", "a"), ifMatch: second))
    }

    @Test("The written ETag equals the one that is read")
    func sameDigest() throws {
        let row = try create("Books", Self.good)
        let columns = try #require(mapping.tables["Books"]).digestColumns
        let read = try queue.read { database in
            StoreFunctions.register(in: database)
            return try String.fetchOne(
                database,
                sql: "SELECT outpost_digest(\(columns.map(\.sqlIdentifier).joined(separator: ", "))) FROM \"the book\""
            )
        }
        #expect(read == row.etag)
    }
}
