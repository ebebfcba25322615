import Testing

@testable import ODataModel

@Suite("Differences between two versions of a model")
struct ModelDifferenceTests {
    static let base = """
        <EntityType Name="T"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Name" Type="Edm.String" MaxLength="20"/><NavigationProperty Name="Next" Type="S.T"/></EntityType>
        <EnumType Name="E"><Member Name="A"/></EnumType>
        <Action Name="Do"><Parameter Name="a" Type="Edm.Int32"/></Action>
        <EntityContainer Name="C"><EntitySet Name="Ts" EntityType="S.T"/><ActionImport Name="Do" Action="S.Do"/></EntityContainer>
        """

    private func differences(_ old: String, _ new: String) throws -> [ModelDifference] {
        let older = try CSDLReader.read(document(Self.base))
        let newer = try CSDLReader.read(document(Self.base.replacing(old, with: new)))
        return newer.differences(from: older)
    }

    @Test("a model does not differ from itself, nor from its written form")
    func same() throws {
        let model = try CSDLReader.read(document(Self.base))
        #expect(model.differences(from: model).isEmpty)
        #expect(try CSDLReader.read(CSDLWriter.xml(model, version: .v4)).differences(from: model).isEmpty)
        #expect(try CSDLReader.read(CSDLWriter.json(model)).differences(from: model).isEmpty)
    }

    @Test("defaults that one document states and the other leaves out are no difference")
    func defaults() throws {
        let stated = """
            <ComplexType Name="V"><Property Name="d" Type="Edm.Decimal" Precision="5" Scale="0"/><Property Name="s" Type="Edm.String" Unicode="true"/>
            <Property Name="g" Type="Edm.GeographyPoint" SRID="4326"/><Property Name="h" Type="Edm.GeometryPoint" SRID="0"/>
            <Property Name="t" Type="Edm.Duration" Precision="0"/><Property Name="c" Type="Collection(Edm.String)" Nullable="false"/></ComplexType>
            """
        var bare = stated
        for facet in [
            " Scale=\"0\"", " Unicode=\"true\"", " SRID=\"4326\"", " SRID=\"0\"", " Precision=\"0\"",
            " Nullable=\"false\"",
        ] {
            bare = bare.replacing(facet, with: "")
        }
        let (one, other) = (try CSDLReader.read(document(stated)), try CSDLReader.read(document(bare)))
        #expect(one.differences(from: other).isEmpty, "\(one.differences(from: other))")
        #expect(other.differences(from: one).isEmpty)
        let written = CSDLWriter.document(other, as: .json)
        #expect(try CSDLReader.read(written.bytes).differences(from: other).isEmpty)
        #expect(written.omissions.count == 1 && written.omissions.first?.contains("S.V/c") == true)
    }

    @Test(
        "each difference has a class and a reason",
        arguments: [
            (
                "<Property Name=\"Name\"", "<Property Name=\"More\" Type=\"Edm.String\"/><Property Name=\"Name\"",
                "S.T/More", .added, true
            ),
            (
                "<Property Name=\"Name\"",
                "<Property Name=\"More\" Type=\"Edm.String\" Nullable=\"false\"/><Property Name=\"Name\"", "S.T/More",
                .added, false
            ),
            ("<Property Name=\"Name\" Type=\"Edm.String\" MaxLength=\"20\"/>", "", "S.T/Name", .removed, false),
            ("MaxLength=\"20\"", "MaxLength=\"30\"", "S.T/Name", .changed, true),
            ("MaxLength=\"20\"", "MaxLength=\"10\"", "S.T/Name", .changed, false),
            ("MaxLength=\"20\"", "", "S.T/Name", .changed, true),
            ("\"Edm.String\" MaxLength", "\"Edm.String\" Nullable=\"false\" MaxLength", "S.T/Name", .changed, false),
            ("Type=\"Edm.String\"", "Type=\"Edm.Binary\"", "S.T/Name", .changed, false),
            ("\"Next\" Type=\"S.T\"/>", "\"Next\" Type=\"Collection(S.T)\"/>", "S.T/Next", .changed, false),
            ("<Member Name=\"A\"/>", "<Member Name=\"A\"/><Member Name=\"B\"/>", "S.E/B", .added, false),
            (
                "<Parameter", "<Parameter Name=\"b\" Type=\"Edm.Int32\" Nullable=\"false\"/><Parameter", "S.Do()/b",
                .added, false
            ),
            ("<Parameter", "<Parameter Name=\"b\" Type=\"Edm.Int32\"/><Parameter", "S.Do()/b", .added, true),
            (
                "<Parameter",
                """
                <Parameter Name="b" Type="Edm.Int32" Nullable="false">
                <Annotation Term="Org.OData.Core.V1.OptionalParameter"/></Parameter><Parameter
                """, "S.Do()/b", .added, true
            ),
            (
                "<EntitySet Name=\"Ts\"", "<EntitySet Name=\"Us\" EntityType=\"S.T\"/><EntitySet Name=\"Ts\"", "S.C/Us",
                .added, true
            ),
            ("<EntitySet Name=\"Ts\" EntityType=\"S.T\"/>", "", "S.C/Ts", .removed, false),
            ("<EntityType Name=\"T\">", "<EntityType Name=\"T\"><Annotation Term=\"X.Y\"/>", "S.T/@X.Y", .added, true),
            ("<EntityType Name=\"T\">", "<EntityType Name=\"T\" OpenType=\"true\">", "S.T", .changed, true),
            ("<EntityType Name=\"T\">", "<EntityType Name=\"T\" HasStream=\"true\">", "S.T", .changed, false),
        ] as [(String, String, String, ModelDifference.Kind, Bool)])
    func classes(old: String, new: String, path: String, kind: ModelDifference.Kind, isCompatible: Bool) throws {
        let differences = try differences(old, new)
        #expect(differences.count == 1)
        let difference = try #require(differences.first)
        #expect(difference.path == path && difference.kind == kind && difference.isCompatible == isCompatible)
        #expect(!difference.reason.isEmpty && !difference.detail.isEmpty)
    }

    @Test(
        "Protocol 4.01 5.2: new optional parameters at the end of a function are compatible",
        arguments: [
            (["a", "o"], ["compatible: S.F(Edm.Int32)/o added"]),
            (["a", "o", "p"], ["compatible: S.F(Edm.Int32)/o added", "compatible: S.F(Edm.Int32)/p added"]),
            (["a", "b"], ["incompatible: S.F(Edm.Int32) removed", "compatible: S.F(Edm.Int32,Edm.Guid) added"]),
            (["o", "a"], ["incompatible: S.F(Edm.Int32) removed", "compatible: S.F(Edm.String,Edm.Int32) added"]),
        ])
    func optionalParameters(names: [String], expected: [String]) throws {
        let older = try CSDLReader.read(document(Self.function(["a"])))
        let newer = try CSDLReader.read(document(Self.function(names)))
        #expect(Self.summary(newer.differences(from: older)) == expected)
        // Beside the old overload, the function is an additional overload.
        let both = try CSDLReader.read(document(Self.function(["a"]) + Self.function(names)))
        let differences = both.differences(from: older)
        #expect(differences.count == 1)
        #expect(differences.first?.kind == .added && differences.first?.isCompatible == true)
    }

    /// The types of parameters by name.
    private static let types = ["a": "Edm.Int32", "b": "Edm.Guid", "o": "Edm.String", "p": "Edm.Date"]

    /// Returns a function with parameters, of which `o` and `p` are optional.
    private static func function(_ names: [String]) -> String {
        let parameters = names.map { name in
            let isOptional = name == "o" || name == "p"
            let annotation = isOptional ? "<Annotation Term='Org.OData.Core.V1.OptionalParameter'/>" : ""
            return "<Parameter Name='\(name)' Type='\(types[name] ?? "")'>\(annotation)</Parameter>"
        }
        return "<Function Name='F'>\(parameters.joined())<ReturnType Type='Edm.Int32'/></Function>"
    }

    private static func summary(_ differences: [ModelDifference]) -> [String] {
        differences.map { "\($0.isCompatible ? "compatible" : "incompatible"): \($0.path) \($0.kind.rawValue)" }
    }
}
