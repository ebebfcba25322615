// Debian's libxml2 is built with ICU, and its headers then include ICU's own. Those declare the same names as
// the ICU inside Swift's Foundation, so that no file could import Foundation and anything that stands on this
// module ("'UErrorCode' has different definitions in different modules"). Only the last two fields of
// xmlCharEncodingHandler depend on it, and nobody here looks into that.
#include <libxml/xmlversion.h>
#undef LIBXML_ICU_ENABLED

#include <libxml/parser.h>
#include <libxml/xmlerror.h>
#include <libxml/SAX2.h>
