import Foundation
import HTTPTypes
import ODataModel
import ODataQuery
import ODataService
import Synchronization
import Testing

@testable import ODataHTTP

@Suite("Bodies in another encoding than UTF-8")
struct BodyEncodingTests {
    private static let text = #"{"value":[{"ID":1,"Name":"café 𝄞 “x” €"},{"ID":2,"Name":"\#(filler)"}]}"#
    private static let filler = String(repeating: "ä𝄞", count: 800)

    private static func utf16(_ text: String, littleEndian: Bool, mark: Bool) -> [UInt8] {
        let units = (mark ? [0xFEFF] : []) + Array(text.utf16)
        return units.flatMap { unit -> [UInt8] in
            let bytes = [UInt8(unit & 0xFF), UInt8(unit >> 8)]
            return littleEndian ? bytes : bytes.reversed()
        }
    }

    private static func utf32(_ text: String, littleEndian: Bool, mark: Bool) -> [UInt8] {
        let scalars = (mark ? [0xFEFF] : []) + text.unicodeScalars.map(\.value)
        return scalars.flatMap { scalar -> [UInt8] in
            let bytes = (0..<4).map { UInt8(truncatingIfNeeded: scalar >> (8 * UInt32($0))) }
            return littleEndian ? bytes : bytes.reversed()
        }
    }

    static let bodies: [[UInt8]] =
        [true, false].flatMap { mark in
            [true, false].flatMap { little in
                [utf16(text, littleEndian: little, mark: mark), utf32(text, littleEndian: little, mark: mark)]
            }
        } + [Array(text.utf8), [0xEF, 0xBB, 0xBF] + Array(text.utf8)]

    private func names(_ bytes: [UInt8], _ contentType: String, chunk: Int) async throws -> [ODataValue?] {
        let place = Mutex(0)
        let body = ByteStream {
            place.withLock { place in
                guard place < bytes.count else { return nil }
                let end = min(place + chunk, bytes.count)
                defer { place = end }
                return Array(bytes[place..<end])
            }
        }
        var message = HTTPResponse(status: .ok)
        message.headerFields[.contentType] = contentType
        let response = try await ExampleService.responseDecoder().decode(
            message, body: body, to: ODataRequest(.read, try ODataURL.of("Products")))
        guard case .page(let page) = response.body else { return [] }
        return page.entities.map { $0["Name"] }
    }

    @Test(
        "UTF-16 and UTF-32 are recognised with and without a mark, in chunks of any size", arguments: bodies,
        [1, 3, 9_000])
    func wide(bytes: [UInt8], chunk: Int) async throws {
        for type in ["application/json", "application/json;charset=utf-16"] {
            let names = try await names(bytes, type, chunk: chunk)
            #expect(names == [.string("café 𝄞 “x” €"), .string(Self.filler)])
        }
    }

    @Test("A declared charset of single bytes counts where the text is no UTF-8", arguments: [1, 4, 1_000])
    func singleBytes(chunk: Int) async throws {
        let start = Array(#"{"value":[{"ID":1,"Name":""#.utf8)
        let end = Array(#""}]}"#.utf8)
        let texts: [([UInt8], String)] = [
            ([0x63, 0x61, 0x66, 0xE9], "café"), (Array("café".utf8), "café"), ([0x80, 0x93, 0xA9], "€“©"),
            ([0xE9], "é"),
        ]
        for (bytes, text) in texts {
            for charset in ["iso-8859-1", "\"Windows-1252\""] {
                let names = try await names(start + bytes + end, "application/json; charset=\(charset)", chunk: chunk)
                #expect(names == [.string(text)])
            }
        }
    }

    @Test("Half a character at the end is replaced, and no byte is lost before it")
    func halves() {
        var decoder = BodyDecoder(.utf16(isLittleEndian: true))
        #expect(decoder.decode([0x7B, 0, 0x3D, 0xD8]) == [0x7B])
        #expect(decoder.decode([0x1E]) == [])
        #expect(decoder.finish() == Array("\u{FFFD}\u{FFFD}".utf8))
        #expect(BodyEncoding(of: Array("{\"a\":1}".utf8), charset: nil) == nil)
        #expect(
            BodyEncoding(of: Self.utf16("<a/>", littleEndian: true, mark: true), charset: nil) == nil, "XML names it")
        #expect(BodyEncoding(of: [], charset: "utf-16") == nil)
    }
}
