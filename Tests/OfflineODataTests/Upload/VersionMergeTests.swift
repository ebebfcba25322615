import ODataModel
import Testing

@testable import OfflineOData

/// Rule 41 as a table: the merge of a base, local and server version.
@Suite("A merge of base, local and server version")
struct VersionMergeTests {
    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="T" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <ComplexType Name="Place"><Property Name="Lat" Type="Edm.Double"/><Property Name="Lon" Type="Edm.Double"/></ComplexType>
        <ComplexType Name="Address"><Property Name="City" Type="Edm.String"/><Property Name="Street" Type="Edm.String"/>
        <Property Name="Place" Type="T.Place"/><Property Name="Phones" Type="Collection(Edm.String)"/></ComplexType>
        <ComplexType Name="Postbox" BaseType="T.Address"><Property Name="Number" Type="Edm.Int32"/></ComplexType>
        <EntityType Name="Party"><Key><PropertyRef Name="Tenant"/><PropertyRef Name="ID"/></Key>
        <Property Name="Tenant" Type="Edm.Int32" Nullable="false"/><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        </EntityType>
        <ComplexType Name="Row" OpenType="true"><Property Name="Name" Type="Edm.String"/>
        <Property Name="Stock" Type="Edm.Int32"/><Property Name="Price" Type="Edm.Decimal" Scale="variable"/>
        <Property Name="Due" Type="Edm.DateTimeOffset"/><Property Name="Rate" Type="Edm.Double"/>
        <Property Name="Tags" Type="Collection(Edm.String)"/><Property Name="Address" Type="T.Address"/>
        <Property Name="Places" Type="Collection(T.Place)"/>
        <Property Name="Tenant" Type="Edm.Int32"/><Property Name="Owner" Type="Edm.Int32"/>
        <NavigationProperty Name="Party" Type="T.Party"><ReferentialConstraint Property="Tenant" ReferencedProperty="Tenant"/>
        <ReferentialConstraint Property="Owner" ReferencedProperty="ID"/></NavigationProperty></ComplexType>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    /// A row of the table. A version is JSON or `deleted`; missing properties are not loaded. The result is
    /// `agreed`, `conflict` with the paths, or the changes to send.
    struct Row: Sendable, CustomTestStringConvertible {
        let base: String
        let mine: String
        let theirs: String
        let result: String

        init(_ base: String, _ mine: String, _ theirs: String, _ result: String) {
            (self.base, self.mine, self.theirs, self.result) = (base, mine, theirs, result)
        }

        var testDescription: String { "\(base) | \(mine) | \(theirs) → \(result)" }
    }

    static let rows = [
        // One property.
        Row(#"{"Stock":1}"#, #"{"Stock":2}"#, #"{"Stock":1}"#, #"{"Stock":2}"#),
        Row(#"{"Stock":1}"#, #"{"Stock":2}"#, #"{"Stock":3}"#, "conflict Stock"),
        Row(#"{"Stock":1}"#, #"{"Stock":2}"#, #"{"Stock":2}"#, "agreed"),
        Row(#"{"Stock":1}"#, #"{"Stock":1}"#, #"{"Stock":3}"#, "agreed"),
        Row(#"{"Stock":1}"#, #"{"Stock":1}"#, #"{"Stock":1}"#, "agreed"),
        // Several properties.
        Row(#"{"Stock":1,"Name":"a"}"#, #"{"Stock":2}"#, #"{"Stock":1,"Name":"b"}"#, #"{"Stock":2}"#),
        Row(
            #"{"Stock":1,"Name":"a"}"#, #"{"Stock":2,"Name":"b"}"#, #"{"Stock":1,"Name":"a"}"#,
            #"{"Stock":2,"Name":"b"}"#),
        Row(#"{"Stock":1,"Name":"a"}"#, #"{"Stock":2,"Name":"b"}"#, #"{"Stock":2,"Name":"a"}"#, #"{"Name":"b"}"#),
        Row(#"{"Stock":1,"Name":"a"}"#, #"{"Stock":2,"Name":"b"}"#, #"{"Stock":2,"Name":"b"}"#, "agreed"),
        Row(#"{"Stock":1,"Name":"a"}"#, #"{"Stock":2,"Name":"b"}"#, #"{"Stock":1,"Name":"c"}"#, "conflict Name"),
        Row(#"{"Stock":1,"Name":"a"}"#, #"{"Stock":2,"Name":"b"}"#, #"{"Stock":3,"Name":"c"}"#, "conflict Name,Stock"),
        Row(#"{"Stock":1,"Name":"a"}"#, #"{"Name":"b"}"#, #"{"Stock":9,"Name":"a"}"#, #"{"Name":"b"}"#),
        // Null.
        Row(#"{"Name":null}"#, #"{"Name":"a"}"#, #"{"Name":null}"#, #"{"Name":"a"}"#),
        Row(#"{"Name":null}"#, #"{"Name":"a"}"#, #"{"Name":"b"}"#, "conflict Name"),
        Row(#"{"Name":"a"}"#, #"{"Name":null}"#, #"{"Name":"a"}"#, #"{"Name":null}"#),
        Row(#"{"Name":"a"}"#, #"{"Name":null}"#, #"{"Name":"b"}"#, "conflict Name"),
        Row(#"{"Name":"a"}"#, #"{"Name":null}"#, #"{"Name":null}"#, "agreed"),
        Row(#"{"Name":"a"}"#, #"{"Name":"b"}"#, #"{"Name":null}"#, "conflict Name"),
        Row(#"{"Name":"a"}"#, #"{"Name":""}"#, #"{"Name":null}"#, "conflict Name"),
        // Properties that are not loaded are not compared.
        Row("{}", #"{"Stock":2}"#, #"{"Stock":3}"#, #"{"Stock":2}"#),
        Row("{}", #"{"Stock":2}"#, #"{"Stock":2}"#, "agreed"),
        Row(#"{"Stock":1}"#, #"{"Stock":2}"#, "{}", #"{"Stock":2}"#),
        Row(#"{"Stock":1}"#, #"{"Stock":2}"#, #"{"Name":"b"}"#, #"{"Stock":2}"#),
        Row(#"{"Stock":1}"#, "{}", #"{"Stock":3}"#, "agreed"),
        // The same value in another spelling.
        Row(#"{"Price":1.5}"#, #"{"Price":2}"#, #"{"Price":1.50}"#, #"{"Price":2}"#),
        Row(#"{"Price":1.5}"#, #"{"Price":2}"#, #"{"Price":2.0}"#, "agreed"),
        Row(
            #"{"Due":"2026-01-01T12:00:00Z"}"#, #"{"Due":"2026-01-02T12:00:00Z"}"#,
            #"{"Due":"2026-01-01T13:00:00+01:00"}"#, #"{"Due":"2026-01-02T12:00:00Z"}"#),
        Row(#"{"Rate":"NaN"}"#, #"{"Rate":1}"#, #"{"Rate":"NaN"}"#, #"{"Rate":1}"#),
        Row(#"{"Name":"e\u0301"}"#, #"{"Name":"x"}"#, #"{"Name":"y"}"#, "conflict Name"),
        // Complex values by path.
        Row(
            #"{"Address":{"City":"a","Street":"s"}}"#, #"{"Address":{"City":"b","Street":"s"}}"#,
            #"{"Address":{"City":"a","Street":"t"}}"#, #"{"Address":{"City":"b","Street":"t"}}"#),
        Row(
            #"{"Address":{"City":"a","Street":"s"}}"#, #"{"Address":{"City":"b","Street":"s"}}"#,
            #"{"Address":{"City":"c","Street":"s"}}"#, "conflict Address/City"),
        Row(
            #"{"Address":{"City":"a","Street":"s"}}"#, #"{"Address":{"City":"b","Street":"u"}}"#,
            #"{"Address":{"City":"c","Street":"t"}}"#, "conflict Address/City,Address/Street"),
        Row(
            #"{"Address":{"City":"a","Street":"s"}}"#, #"{"Address":{"City":"b"}}"#,
            #"{"Address":{"City":"a","Street":"t"}}"#, #"{"Address":{"City":"b","Street":"t"}}"#),
        Row(
            #"{"Address":{"City":"a","Street":"s"}}"#, #"{"Address":{"City":"b","Street":"s"}}"#,
            #"{"Address":{"City":"b","Street":"t"}}"#, "agreed"),
        Row(
            #"{"Address":{"City":"a","Place":{"Lat":1,"Lon":2}}}"#,
            #"{"Address":{"City":"a","Place":{"Lat":5,"Lon":2}}}"#,
            #"{"Address":{"City":"a","Place":{"Lat":1,"Lon":6}}}"#,
            #"{"Address":{"City":"a","Place":{"Lat":5,"Lon":6}}}"#),
        Row(
            #"{"Address":{"City":"a","Place":{"Lat":1,"Lon":2}}}"#,
            #"{"Address":{"City":"b","Place":{"Lat":5,"Lon":2}}}"#,
            #"{"Address":{"City":"a","Place":{"Lat":7,"Lon":2}}}"#, "conflict Address/Place/Lat"),
        Row(
            #"{"Address":{"City":"a","Phones":["1"]}}"#, #"{"Address":{"City":"a","Phones":["1","2"]}}"#,
            #"{"Address":{"City":"a","Phones":["1","3"]}}"#, "conflict Address/Phones"),
        Row(#"{"Address":null}"#, #"{"Address":{"City":"b"}}"#, #"{"Address":{"City":"c"}}"#, "conflict Address"),
        Row(#"{"Address":{"City":"a"}}"#, #"{"Address":null}"#, #"{"Address":{"City":"c"}}"#, "conflict Address"),
        Row(#"{"Address":{"City":"a"}}"#, #"{"Address":{"City":"b"}}"#, #"{"Address":null}"#, "conflict Address"),
        Row(#"{"Address":{"City":"a"}}"#, #"{"Address":null}"#, #"{"Address":{"City":"a"}}"#, #"{"Address":null}"#),
        Row(
            #"{"Address":{"City":"a"}}"#, #"{"Address":{"City":"b"}}"#,
            ##"{"Address":{"@odata.type":"#T.Postbox","City":"a","Number":1}}"##, "conflict Address"),
        // A collection is one value.
        Row(#"{"Tags":["a"]}"#, #"{"Tags":["a","b"]}"#, #"{"Tags":["a"]}"#, #"{"Tags":["a","b"]}"#),
        Row(#"{"Tags":["a"]}"#, #"{"Tags":["a","b"]}"#, #"{"Tags":["a","c"]}"#, "conflict Tags"),
        Row(#"{"Tags":["a","b"]}"#, #"{"Tags":["b","a"]}"#, #"{"Tags":["a","b","c"]}"#, "conflict Tags"),
        Row(#"{"Tags":["a"]}"#, #"{"Tags":[]}"#, #"{"Tags":[]}"#, "agreed"),
        Row(#"{"Tags":["a"]}"#, #"{"Stock":2}"#, #"{"Tags":["z"]}"#, #"{"Stock":2}"#),
        Row(
            #"{"Places":[{"Lat":1,"Lon":1}]}"#, #"{"Places":[{"Lat":2,"Lon":1}]}"#, #"{"Places":[{"Lat":1,"Lon":2}]}"#,
            "conflict Places"),
        // A relation by several properties is one value.
        Row(#"{"Tenant":1,"Owner":1}"#, #"{"Owner":2}"#, #"{"Tenant":1,"Owner":1}"#, #"{"Owner":2}"#),
        Row(#"{"Tenant":1,"Owner":1}"#, #"{"Owner":2}"#, #"{"Tenant":9,"Owner":1}"#, "conflict Party"),
        Row(#"{"Tenant":1,"Owner":1}"#, #"{"Tenant":9,"Owner":2}"#, #"{"Tenant":9,"Owner":1}"#, "conflict Party"),
        Row(#"{"Tenant":1,"Owner":1}"#, #"{"Tenant":9,"Owner":2}"#, #"{"Tenant":9,"Owner":2}"#, "agreed"),
        Row(#"{"Tenant":1,"Owner":1}"#, #"{"Owner":2}"#, #"{"Tenant":1,"Owner":3}"#, "conflict Owner"),
        Row(#"{"Tenant":1,"Owner":1}"#, #"{"Stock":2}"#, #"{"Tenant":9,"Owner":3}"#, #"{"Stock":2}"#),
        // A missing dynamic property is null.
        Row(#"{"Extra":1}"#, #"{"Extra":2}"#, #"{"Extra":1}"#, #"{"Extra":2}"#),
        Row(#"{"Extra":1}"#, #"{"Extra":2}"#, "{}", "conflict Extra"),
        Row(#"{"Extra":null}"#, #"{"Extra":2}"#, "{}", #"{"Extra":2}"#),
        Row("{}", #"{"Extra":2}"#, #"{"Extra":3}"#, "conflict Extra"),
        Row(#"{"Extra":1}"#, #"{"Extra":null}"#, "{}", "agreed"),
        // Deletions.
        Row(#"{"Stock":1}"#, #"{"Stock":2}"#, "deleted", "conflict "),
        Row(#"{"Stock":1}"#, "deleted", #"{"Stock":1}"#, "{}"),
        Row(#"{"Stock":1}"#, "deleted", #"{"Stock":2}"#, "conflict "),
        Row(#"{"Stock":1,"Name":"a"}"#, "deleted", #"{"Stock":1,"Name":"a","Price":4}"#, "{}"),
        Row(#"{"Stock":1}"#, "deleted", "deleted", "agreed"),
        Row(#"{"Stock":1}"#, "{}", "deleted", "conflict "),
    ]

    private let model: EntityDataModel

    init() throws { model = try CSDLReader.read(Array(Self.metadata.utf8)) }

    private func entity(_ text: String) throws -> ODataEntity? {
        guard text != "deleted" else { return nil }
        let value = try ODataValue(
            json: Array(text.utf8), type: .complex(QualifiedName("T", "Row")), model: model)
        guard case .complex(let entity) = value else { return nil }
        return entity
    }

    @Test("follows the table", arguments: rows)
    func table(row: Row) throws {
        let merge = VersionMerge(
            base: try entity(row.base), mine: try entity(row.mine), theirs: try entity(row.theirs))
        switch merge.result {
        case .agreed: #expect(row.result == "agreed")
        case .conflict(let paths): #expect(row.result == "conflict \(paths.joined(separator: ","))")
        case .merged(let changes):
            #expect(row.result.hasPrefix("{"))
            let expected = try entity(row.result)
            #expect(changes.values == expected?.values && changes.dynamicProperties == expected?.dynamicProperties)
        }
    }

    @Test("has a table of at least 40 rows")
    func size() { #expect(Self.rows.count >= 40) }

    @Test("never gives a value that neither side has, and keeps changes of one side", arguments: rows)
    func origin(row: Row) throws {
        guard let mine = try entity(row.mine), let theirs = try entity(row.theirs) else { return }
        let merge = VersionMerge(base: try entity(row.base), mine: mine, theirs: theirs)
        guard case .merged(let changes) = merge.result else { return }
        for name in changes.loadedProperties {
            #expect(mine[name] != nil, "\(name) was not changed here")
            if case .complex? = changes[name] { continue }
            #expect(changes[name] == mine[name])
        }
    }

    @Test("treats a stream and a relation end as one value")
    func whole() {
        let shape = ODataEntity(
            shape: model.shape(QualifiedName("T", "Row")) ?? TypeShape(dynamic: .init("T", "R"), properties: [])
        ).shape
        func result(_ base: String?, _ mine: String, _ theirs: String) -> ConflictMerge {
            VersionMerge.whole(isMine: mine == theirs, isBase: base == theirs, name: "$value", shape: shape)
        }
        #expect(result("one", "two", "one") == .merged(ODataEntity(shape: shape)))
        #expect(result("one", "two", "two") == .agreed)
        #expect(result("one", "two", "three") == .conflict(["$value"]))
        #expect(result(nil, "two", "one") == .conflict(["$value"]))
        #expect(result(nil, "two", "two") == .agreed)
    }

    @Test(
        "recognises a version with only another ETag",
        arguments: [
            (#"{"Stock":1,"Name":"a"}"#, #"{"Stock":2}"#, #"{"Stock":1,"Name":"a"}"#, true),
            (#"{"Stock":1,"Name":"a"}"#, #"{"Stock":2}"#, #"{"Stock":2,"Name":"a"}"#, true),
            (#"{"Stock":1,"Name":"a"}"#, #"{"Stock":2}"#, #"{"Stock":1,"Name":"b"}"#, false),
            (#"{"Stock":1,"Name":"a"}"#, #"{"Stock":2}"#, #"{"Stock":3,"Name":"a"}"#, false),
            (#"{"Stock":1}"#, #"{"Stock":2}"#, #"{"Stock":1,"Name":"b"}"#, true),
            (#"{"Stock":1}"#, #"{"Stock":2}"#, #"{}"#, true),
            (#"{"Extra":1}"#, #"{"Stock":2}"#, #"{"Extra":1}"#, true),
            (#"{"Extra":1}"#, #"{"Stock":2}"#, #"{}"#, false),
            (#"{"Stock":1}"#, "deleted", #"{"Stock":1}"#, true),
            (#"{"Stock":1}"#, "deleted", #"{"Stock":2}"#, false),
            (#"{"Stock":1}"#, "deleted", "deleted", true),
            (#"{"Stock":1}"#, #"{"Stock":2}"#, "deleted", false),
        ])
    func knownValues(base: String, mine: String, theirs: String, isKnown: Bool) throws {
        let merge = VersionMerge(base: try entity(base), mine: try entity(mine), theirs: try entity(theirs))
        #expect(merge.isOfKnownValues == isKnown)
    }

    @Test("is available to policies of the app")
    func closure() throws {
        let mine = try #require(try entity(#"{"Stock":2}"#))
        let versions = ConflictVersions(
            entitySet: "Rows", key: EntityKey([.init(name: "ID", value: 1)]), kind: .update,
            base: try entity(#"{"Stock":1}"#), mine: mine, theirs: try entity(#"{"Stock":1,"Name":"b"}"#))
        #expect(versions.merge() == .merged(mine))
    }
}
