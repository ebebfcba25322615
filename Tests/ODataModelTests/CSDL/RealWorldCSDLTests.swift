import Foundation
import Testing

@testable import ODataModel

/// Documents as services write them, which may violate the standard. The reader must return the usable parts and
/// warn of the skipped parts.
@Suite("Metadata in the forms of services")
struct RealWorldCSDLTests {
    /// Returns a document of V2 or V3 with the content of a schema.
    private static func legacy(_ schema: String, edm: String = "http://schemas.microsoft.com/ado/2008/09/edm") -> String
    {
        """
        <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx" \
        xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" xmlns:sap="http://www.sap.com/Protocols/SAPData">\
        <edmx:DataServices m:DataServiceVersion="2.0"><Schema Namespace="S" xmlns="\(edm)">\(schema)</Schema></edmx:DataServices></edmx:Edmx>
        """
    }

    private static func current(_ schema: String, attributes: String = "") -> String {
        """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>\
        <Schema Namespace="S" Alias="self" xmlns="http://docs.oasis-open.org/odata/ns/edm" \(attributes)>\(schema)</Schema>\
        </edmx:DataServices></edmx:Edmx>
        """
    }

    private static let entity =
        "<EntityType Name='E'><Key><PropertyRef Name='Id'/></Key><Property Name='Id' Type='Edm.Int32' Nullable='false'/></EntityType>"

    private static func read(_ text: String) throws -> CSDLReader.Result { try CSDLReader.parse(Array(text.utf8)) }

    @Test(
        "documents in other encodings and with byte order marks are read",
        arguments: [String.Encoding.utf8, .utf16LittleEndian, .utf16BigEndian, .isoLatin1])
    func encodings(encoding: String.Encoding) throws {
        let names: [String.Encoding: String] = [
            .utf8: "utf-8", .utf16LittleEndian: "utf-16", .utf16BigEndian: "utf-16", .isoLatin1: "iso-8859-1",
        ]
        let marks: [String.Encoding: [UInt8]] = [
            .utf8: [0xEF, 0xBB, 0xBF], .utf16LittleEndian: [0xFF, 0xFE], .utf16BigEndian: [0xFE, 0xFF],
        ]
        let text =
            "<?xml version=\"1.0\" encoding=\"\(names[encoding] ?? "")\"?>"
            + Self.current(Self.entity.replacing("'E'", with: "'Größe'"))
        let bytes = [UInt8](try #require(text.data(using: encoding)))
        let model = try CSDLReader.read((marks[encoding] ?? []) + bytes)
        #expect(model.shape(QualifiedName("S", "Größe")) != nil)
    }

    @Test(
        "white space before the XML declaration is accepted",
        arguments: ["\n", "  \r\n", "\u{FEFF}\n"])
    func leadingSpace(space: String) throws {
        let text = space + "<?xml version=\"1.0\"?>" + Self.current(Self.entity)
        #expect(try Self.read(text).model.shape(QualifiedName("S", "E")) != nil)
    }

    @Test(
        "skipped elements cause warnings, and the rest is read",
        arguments: [
            // Gateway documents: links, and attributes and collections of gateways.
            (legacy("\(entity)<atom:link xmlns:atom='http://www.w3.org/2005/Atom' rel='self' href='x'/>"), 0),
            (legacy("<Documentation><Summary>A <![CDATA[& B]]></Summary></Documentation>\(entity)"), 0),
            (
                legacy(
                    "\(entity)<Annotations Target='S.E/Id' xmlns='http://docs.oasis-open.org/odata/ns/edm'><Annotation Term='UI.Hidden'/></Annotations>"
                ), 0
            ),
            (
                legacy(
                    "\(entity)<EntityContainer Name='C' m:IsDefaultEntityContainer='true'><EntitySet Name='Es' EntityType='S.E' sap:foo='1'/></EntityContainer>"
                ), 0
            ),
            // Associations without a target.
            (
                legacy(
                    "<EntityType Name='E'><Key><PropertyRef Name='Id'/></Key><Property Name='Id' Type='Edm.Int32'/><NavigationProperty Name='N' Relationship='S.Gone' FromRole='a' ToRole='b'/></EntityType>"
                ), 1
            ),
            (
                legacy(
                    "<EntityType Name='E'><Key><PropertyRef Name='Id'/></Key><Property Name='Id' Type='Edm.Int32'/><NavigationProperty Name='N' Relationship='S.A' FromRole='a' ToRole='x'/></EntityType><Association Name='A'><End Role='a' Type='S.E' Multiplicity='1'/><End Role='b' Type='S.E' Multiplicity='*'/></Association>"
                ), 1
            ),
            (
                legacy(
                    "\(entity)<Association Name='A'><End Role='a' Type='S.E' Multiplicity='1..*'/><End Role='b' Type='S.E' Multiplicity='*'/></Association>"
                ), 1
            ),
            // An undeclared type, and a misspelled type.
            (
                current(
                    "<EntityType Name='E'><Key><PropertyRef Name='Id'/></Key><Property Name='Id' Type='Edm.string'/><Property Name='O' Type='Other.T'/></EntityType>"
                ), 2
            ),
            // A set of an unknown type, and a duplicate set.
            (
                current(
                    "\(entity)<EntityContainer Name='C'><EntitySet Name='Es' EntityType='S.E'/><EntitySet Name='Xs' EntityType='S.X'/><EntitySet Name='Es' EntityType='S.E'/></EntityContainer>"
                ), 2
            ),
            // Invalid facets and flags.
            (
                current(
                    "<EntityType Name='E'><Key><PropertyRef Name='Id'/></Key><Property Name='Id' Type='Edm.String' MaxLength='-1' Nullable='no' Unicode='yes'/></EntityType>"
                ), 3
            ),
            (
                current(
                    "<EntityType Name='E'><Key><PropertyRef Name='Id'/></Key><Property Name='Id' Type='Edm.String' MaxLength='Max' Precision='variable'/></EntityType>"
                ), 0
            ),
            // Unknown attributes, with and without a namespace.
            (
                current(
                    entity.replacing("<EntityType", with: "<EntityType ags:Id='7' Own='x'"),
                    attributes: "xmlns:ags='urn:ags' xml:lang='de'"), 0
            ),
            // All kinds of expression.
            (
                current(
                    "\(entity)<Annotations Target='self.E'><Annotation Term='S.T'><If><And><Or><Not><Path>Id</Path></Not><Bool>true</Bool></Or><Eq><Path>Id</Path><Int>1</Int></Eq></And><Apply Function='odata.concat'><String>a</String><LabeledElement Name='l' Path='Id'/></Apply><Cast Type='Edm.String' MaxLength='5'><Neg><Add><Int>1</Int><Mul><Float>2</Float><DivBy><Int>3</Int><Int>4</Int></DivBy></Mul></Add></Neg></Cast></If></Annotation><Annotation Term='S.U' Qualifier='q'><Collection><Record><PropertyValue Property='a'><IsOf Type='Collection(self.E)'><Path>Id</Path></IsOf></PropertyValue><PropertyValue Property='b'><UrlRef><LabeledElementReference>S.l</LabeledElementReference></UrlRef></PropertyValue><PropertyValue Property='c'><Null><Annotation Term='S.V' Date='2026-01-01'/></Null></PropertyValue><PropertyValue Property='d'><In><Path>Id</Path><Collection><Int>1</Int></Collection></In></PropertyValue><PropertyValue Property='e'><Has><Path>Id</Path><EnumMember>S.C/A S.C/B</EnumMember></Has></PropertyValue></Record></Collection></Annotation></Annotations>"
                ), 0
            ),
            // Two schemas with the same namespace, with comments and instructions.
            (
                current(
                    "\(entity)</Schema><!-- c --><?p i?><Schema Namespace='S' xmlns='http://docs.oasis-open.org/odata/ns/edm'><ComplexType Name='C'/>"
                ), 0
            ),
        ] as [(String, Int)])
    func readAround(text: String, warnings: Int) throws {
        let result = try Self.read(text)
        #expect(result.warnings.count == warnings, "\(result.warnings)")
        #expect(result.warnings.allSatisfy { $0.line >= 1 && $0.column >= 1 })
        #expect(result.model.shape(QualifiedName("S", "E")) != nil)
        // The model is written in both formats and read again.
        for bytes in [CSDLWriter.xml(result.model, version: .v4), CSDLWriter.json(result.model)] {
            #expect(try CSDLReader.read(bytes).shape(QualifiedName("S", "E")) != nil)
        }
    }

    @Test(
        "an unreadable document is refused with its place",
        arguments: [
            ("<!DOCTYPE edmx [<!ENTITY e 'x'>]>" + current(entity), .documentType),
            ("<a><b/>", .truncated), ("{}", .notCSDL(root: "an object without $Version")), ("   ", .empty),
            ("<html><body>Sign in</body></html>", .html),
            ("<feed xmlns='http://www.w3.org/2005/Atom'/>", .notCSDL(root: "feed")),
            (current(entity + "<ComplexType Name='E'/>"), .duplicateName("S.E")),
            (current("<EntityType Name='A' BaseType='S.B'/><EntityType Name='B' BaseType='S.A'/>"), nil),
            (
                "<edmx:Edmx Version='4.0' xmlns:edmx='http://docs.oasis-open.org/odata/ns/edmx'/>",
                .notCSDL(root: "Edmx")
            ),
            (current(entity).replacing("Alias", with: "Namespace"), nil), ("<a>&nbsp;</a>", nil),
        ] as [(String, CSDLError.Reason?)])
    func refused(text: String, reason: CSDLError.Reason?) {
        let error = #expect(throws: CSDLError.self) { try CSDLReader.read(Array(text.utf8)) }
        if let reason { #expect(error?.reason == reason) }
        #expect((error?.line ?? 0) >= 1 && (error?.column ?? 0) >= 1 && error?.expected.isEmpty == false)
    }
}
