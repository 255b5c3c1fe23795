# find_package(allotment): the target allotment::allotment. In <prefix>/share/cmake/allotment.
get_filename_component(ALLOTMENT_PREFIX_ "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
find_library(ALLOTMENT_LIBRARY_ allotment PATHS "${ALLOTMENT_PREFIX_}" PATH_SUFFIXES lib lib64 NO_DEFAULT_PATH)
if(NOT ALLOTMENT_LIBRARY_)
  # Debian and its like have a folder for each machine.
  file(GLOB ALLOTMENT_FOUND_ "${ALLOTMENT_PREFIX_}/lib/*/liballotment.so")
  list(GET ALLOTMENT_FOUND_ 0 ALLOTMENT_LIBRARY_)
endif()
if(NOT ALLOTMENT_LIBRARY_)
  set(allotment_FOUND FALSE)
  set(allotment_NOT_FOUND_MESSAGE "liballotment is not in ${ALLOTMENT_PREFIX_}/lib")
  return()
endif()
if(NOT TARGET allotment::allotment)
  add_library(allotment::allotment UNKNOWN IMPORTED)
  set_target_properties(allotment::allotment PROPERTIES
    IMPORTED_LOCATION "${ALLOTMENT_LIBRARY_}"
    INTERFACE_INCLUDE_DIRECTORIES "${ALLOTMENT_PREFIX_}/include")
endif()
