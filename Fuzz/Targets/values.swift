// Geo values and the text forms of every primitive type: a read value is written, and reads back the same.
import ODataModel

/// Takes one input from libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: data, count: count), as: UTF8.self)
    for type in PrimitiveType.allCases {
        guard let value = try? ODataValue(lexical: text, type: type), let written = value.lexicalText else { continue }
        guard let again = try? ODataValue(lexical: written, type: type) else {
            fatalError("\(type): \(written) was written and is not read")
        }
        promise(again == value || written == "NaN", "\(type): \(written) is read as another value")
    }
    return 0
}
